// Persian texts of uptime checks.

import { digits, grouped } from './figures.ts';

export const uptime = {
  none: 'هنوز چیزی پایش نمی‌شود',
  noneText:
    'برای یک رکورد عبوری از لبه، «پایش دسترس‌پذیری» را روشن کنید. پس از آن، این صفحه بر پایهٔ درخواست‌های واقعی نشان می‌دهد که سرور آن چه زمان‌هایی از دسترس خارج بوده است.',
  toRecords: 'رفتن به رکوردها',
  up: 'سرورهای شما در دسترس‌اند',
  down: 'سرورهای شما از دسترس خارج‌اند',
  downText: 'بیشتر بازدیدکنندگان اکنون خطا می‌بینند. سرور مبدأ رکوردهای عبوری از لبه را بررسی کنید.',
  well: 'در دسترس',
  goesOn: 'ادامه دارد',
  percent: (percent: number) => `${digits(String(Math.round(percent * 1000) / 1000))}٪`,
  of: (period: string) => `از ${period} بدون رخداد`,
  judgedUntil: 'ارزیابی‌شده تا',
  how: 'اگر در یک دقیقه درخواست‌های زیادی ناموفق باشند، آن دقیقه قطعی شمرده می‌شود. حد آن را در تنظیمات تغییر دهید.',
  incidents: 'رخدادها',
  noIncidents: 'در این بازه رخدادی نبوده است.',
  strip: (incidents: number) => `خط زمانی با ${grouped(incidents)} رخداد`,
  columns: { from: 'آغاز', to: 'پایان', lasted: 'مدت', failed: 'درخواست‌های ناموفق' },
};
