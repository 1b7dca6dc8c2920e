// Persian texts of the frame of a domain.

export const domain = {
  pages: {
    delegation: 'واگذاری',
    records: 'رکوردها',
    history: 'تاریخچه',
    dnssec: 'DNSSEC',
    secondaries: 'سرورهای ثانویه',
    traffic: 'ترافیک',
    rules: 'قوانین',
    certificates: 'گواهی‌ها',
    cache: 'کش',
    uptime: 'دسترس‌پذیری',
    sharing: 'اشتراک دسترسی',
    settings: 'تنظیمات',
    plan: 'طرح',
  },
  groups: { dns: 'DNS', delivery: 'لبه', manage: 'مدیریت' },
  notProxied:
    'هیچ رکوردی از این دامنه از لبه عبور نمی‌کند. بازدیدکنندگان از لبهٔ ما نمی‌گذرند و این صفحه هنوز اثری ندارد.',
  toRecords: 'عبور دادن یک رکورد از لبه',
  navigation: 'صفحه‌های دامنه',
  title: (name: string, status: string) => `${name} · ${status} – Zonefleet`,
};
