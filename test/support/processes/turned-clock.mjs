// Preloaded by a process whose clock a test turns while it runs: the file CLOCK_FILE says by how many milliseconds it is ahead.

import { readFileSync } from 'node:fs';

const LOOK_MS = 20;
const RightDate = Date;
let aheadMs = 0;

setInterval(() => {
  aheadMs = Number(readFileSync(process.env.CLOCK_FILE, 'utf8'));
}, LOOK_MS).unref();

globalThis.Date = class extends RightDate {
  constructor(...parts) {
    if (parts.length === 0) super(RightDate.now() + aheadMs);
    else super(...parts);
  }

  static now() {
    return RightDate.now() + aheadMs;
  }
};
