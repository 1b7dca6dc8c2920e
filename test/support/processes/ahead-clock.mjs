// Preloaded by a process whose clock shall run ahead: by CLOCK_AHEAD_MS, in its threads too.

const aheadMs = Number(process.env.CLOCK_AHEAD_MS);
const RightDate = Date;

globalThis.Date = class extends RightDate {
  constructor(...parts) {
    if (parts.length === 0) super(RightDate.now() + aheadMs);
    else super(...parts);
  }

  static now() {
    return RightDate.now() + aheadMs;
  }
};
