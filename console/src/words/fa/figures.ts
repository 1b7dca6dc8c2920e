// Numbers and times in Persian, with Persian digits and the calendar of Iran.

const LOCALE = 'fa-IR';
const NUMBER = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 20 });
const COMPACT = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 });
const DATE = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
const RELATIVE = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto' });

/** `۱٬۲۵۰٬۰۰۰`. */
export const grouped = (amount: number) => NUMBER.format(amount);

/** `۱٫۳ میلیون`. */
export const compact = (amount: number) => COMPACT.format(amount);

/** `۷ آذر ۱۴۰۵، ۱۰:۵۲ UTC`. */
export const date = (at: Date) => `${DATE.format(at)} UTC`;

/** `۳ روز دیگر`, `۲ دقیقه پیش`, `دیروز`. `amount` is a whole number, negative for the past. */
export const relative = (amount: number, unit: 'second' | 'minute' | 'hour' | 'day' | 'month') =>
  RELATIVE.format(amount, unit);

/** Converts the digits and the decimal point of a number in a text. */
export const digits = (text: string) =>
  text.replaceAll(/\d/g, (digit) => '۰۱۲۳۴۵۶۷۸۹'[Number(digit)] ?? digit).replaceAll('.', '٫');

/** Isolates a technical value, such as a path, from the direction of the sentence. */
export const ltr = (text: string) => `\u2066${text}\u2069`;

/** `یک، دو، سه`, without absent texts. */
export const listed = (texts: readonly (string | false | undefined)[]) => texts.filter(Boolean).join('، ');

/** Lists the texts whose amount is not 0. */
export const listOf = (parts: readonly (readonly [number, string])[]) => {
  const texts = parts.filter(([amount]) => amount > 0).map(([, text]) => text);
  return texts.length === 0 ? 'هیچ' : listed(texts);
};

/** `۲ افزوده، ۱ حذف‌شده`. */
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
    [create, `${grouped(create)} افزوده`],
    [update, `${grouped(update)} تغییرکرده`],
    [gone, `${grouped(gone)} حذف‌شده`],
  ]);

/** `۲۰ میلی‌ثانیه`, `۱٫۵ ثانیه`, `۳ دقیقه`. */
export const secondsText = (seconds: number) =>
  seconds < 1
    ? `${grouped(Math.round(seconds * 1000))} میلی‌ثانیه`
    : seconds < 100
      ? `${digits(seconds.toFixed(1))} ثانیه`
      : durationText(seconds);

/** `۵ دقیقه`, `۳ ساعت و ۲۰ دقیقه`, `۴ روز و ۲ ساعت`. */
export const durationText = (seconds: number) => {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return `${grouped(Math.floor(seconds))} ثانیه`;
  if (minutes < 60) return `${grouped(minutes)} دقیقه`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${grouped(hours)} ساعت و ${grouped(minutes % 60)} دقیقه`;
  return `${grouped(Math.floor(hours / 24))} روز و ${grouped(hours % 24)} ساعت`;
};
