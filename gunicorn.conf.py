"""What gunicorn reads by itself when it is started in this folder."""

from config.settings import LOGGING

# The server's own lines look like the site's. It writes none for a request: those would hold addresses with their
# query strings, and the site writes one without (projects/http/request_log.py).
logconfig_dict = LOGGING
accesslog = None
