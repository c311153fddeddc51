"""The dashboard: jobs, queues and workers in a browser, live. It promises that looking never hurts the queue (a budget
for every panel), that nothing is shown or changed without leave, and that pages read well without scripts. It holds no
SQL and no rule of the queue: what it shows and orders is `admin`'s and `client`'s."""
