"""Verifies a webhook with the PyPI package `standardwebhooks`: python3 verify.py < {"secret", "headers", "body"}"""

import json
import sys

from standardwebhooks import Webhook

told = json.load(sys.stdin)
print(json.dumps(Webhook(told["secret"]).verify(told["body"], told["headers"])))
