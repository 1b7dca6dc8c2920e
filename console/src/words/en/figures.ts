// Numbers and times in English, formatted like Intl for `en-GB`. Intl takes a tenth of a second at its first call, so it is used
// only for rare cases.

const SIZES = ['', 'k', 'm', 'bn', 'tn'];

/** `1,250,000`. */
export function grouped(amount: number): string {
  if (!Number.isSafeInteger(amount)) return amount.toLocaleString('en-GB');
  return String(amount).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1.3m`, for numbers from 0 to 15 digits. */
export function compact(amount: number): string {
  const digits = Math.max(1, String(Math.trunc(amount)).length);
  let at = Math.min(SIZES.length - 1, Math.floor((digits - 1) / 3));
  let tenths = Math.round((amount * 10) / 1000 ** at);
  if (tenths >= 10_000 && at < SIZES.length - 1) {
    at++; // 999,950 is rounded to a million
    tenths = 10;
  }
  const fraction = tenths % 10 === 0 ? '' : `.${tenths % 10}`;
  return `${Math.floor(tenths / 10)}${fraction}${SIZES[at]}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sept', 'Oct', 'Nov', 'Dec'];

/** `28 Nov 2026, 10:52 UTC`. */
export function date(at: Date): string {
  const time = at.toISOString().slice(11, 16);
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}, ${time} UTC`;
}

const NAMED = {
  day: { '-1': 'yesterday', '0': 'today', '1': 'tomorrow' },
  month: { '-1': 'last month', '0': 'this month', '1': 'next month' },
  hour: { '0': 'this hour' },
  minute: { '0': 'this minute' },
  second: { '0': 'now' },
} as const;

/** `in 3 days`, `2 minutes ago`, `yesterday`. `amount` is a whole number, negative for the past. */
export function relative(amount: number, unit: 'second' | 'minute' | 'hour' | 'day' | 'month'): string {
  const named = (NAMED[unit] as Readonly<Record<string, string>>)[String(amount)];
  if (named !== undefined) return named;
  const size = Math.abs(amount);
  const text = `${grouped(size)} ${unit}${size === 1 ? '' : 's'}`;
  return amount < 0 ? `${text} ago` : `in ${text}`;
}

/** `1 row`, `2 rows`. */
export const plural = (amount: number, one: string, many: string) =>
  `${grouped(amount)} ${amount === 1 ? one : many}`;

/** `one, two, three`, without absent texts. */
export const listed = (texts: readonly (string | false | undefined)[]) => texts.filter(Boolean).join(', ');

/** Lists the texts whose amount is not 0. */
export const listOf = (parts: readonly (readonly [number, string])[]) => {
  const texts = parts.filter(([amount]) => amount > 0).map(([, text]) => text);
  return texts.length === 0 ? 'nothing' : listed(texts);
};

/** `2 added, 1 deleted`. */
export const countsText = ({
  create,
  update,
  delete: gone,
}: {
  create: number;
  update: number;
  delete: number;
}) =>
  listOf([
    [create, `${grouped(create)} added`],
    [update, `${grouped(update)} changed`],
    [gone, `${grouped(gone)} deleted`],
  ]);

/** `20 ms`, `1.5 s`, `3 min`. */
export const secondsText = (seconds: number) =>
  seconds < 1
    ? `${Math.round(seconds * 1000)} ms`
    : seconds < 100
      ? `${seconds.toFixed(1)} s`
      : durationText(seconds);

/** `5 min`, `3 h 20 min`, `4 d 2 h`. */
export const durationText = (seconds: number) => {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return `${Math.floor(seconds)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${grouped(Math.floor(hours / 24))} d ${hours % 24} h`;
};
