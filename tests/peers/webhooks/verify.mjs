// Verifies a webhook with the npm package `standardwebhooks`.
// node verify.mjs FOLDER < {"secret", "headers", "body"}    (FOLDER: where the package is installed)
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const { Webhook } = createRequire(`${process.argv[2]}/`)('standardwebhooks');
const { secret, headers, body } = JSON.parse(readFileSync(0, 'utf8'));
console.log(JSON.stringify(new Webhook(secret).verify(body, headers)));
