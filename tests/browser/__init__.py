"""The dashboard in real Chromium: pages that are driven, not only fetched."""
