// Simulates a bug of the workers, which load this file with `--import`: every new signature is wrong.

import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const { sign } = crypto;
crypto.sign = (...args) => {
  const signature = sign(...args);
  signature[0] ^= 1;
  return signature;
};
syncBuiltinESMExports();
