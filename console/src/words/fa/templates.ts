// Persian texts of the zone templates.

import { grouped, ltr } from './figures.ts';

export const templates = {
  title: 'استفاده از الگو',
  text: 'الگو رکوردهای معمول برای یک کاربرد را می‌افزاید و نشانی‌ها و نام‌های مستعار را در نام‌هایی که به کار می‌برد جایگزین می‌کند. تغییرها پیش از افزودن نمایش داده می‌شوند.',
  choose: 'الگو',
  names: {
    website: 'وب‌سایت روی یک نشانی',
    host: 'وب‌سایت روی یک نام میزبان',
    github: 'GitHub Pages',
    netlify: 'Netlify',
    vercel: 'Vercel',
    shopify: 'Shopify',
    parked: 'دامنهٔ بدون استفاده و بدون ایمیل',
  },
  hints: {
    website: 'دامنه و www به نشانی سرور شما می‌رسند.',
    host: 'دامنه و www به نامی می‌رسند که ارائه‌دهندهٔ میزبانی به شما داده است.',
    github: 'دامنه و www به سایت شما در GitHub می‌رسند.',
    netlify: 'دامنه و www به سایت شما در Netlify می‌رسند.',
    vercel: 'دامنه و www به پروژهٔ شما در Vercel می‌رسند.',
    shopify: 'دامنه و www به فروشگاه شما می‌رسند.',
    parked: 'سرورهای دیگر ایمیل‌های این دامنه را رد می‌کنند و هیچ مرکزی مجاز به صدور گواهی برای آن نیست.',
  },
  email: 'برای ایمیل، از راه‌اندازی ایمیل استفاده کنید.',
  emailLink: 'راه‌اندازی ایمیل',
  fields: {
    address: 'نشانی IPv4',
    address6: 'نشانی IPv6 (اختیاری)',
    host: 'نام میزبان',
    user: 'کاربر یا سازمان در GitHub',
    site: 'نام سایت در Netlify',
  },
  fieldHints: {
    address: `نمونه: ${ltr('192.0.2.10')}`,
    address6: `نمونه: ${ltr('2001:db8::10')}`,
    host: `نمونه: ${ltr('shop.example.net')}`,
    user: `بدون ${ltr('.github.io')}`,
    site: `بدون ${ltr('.netlify.app')}`,
  },
  problems: {
    needed: 'این مقدار را وارد کنید.',
    wrong: 'این مقدار با رکورد همخوان نیست.',
  },
  changes: 'تغییرها',
  nothing: 'همهٔ این رکوردها از پیش وجود دارند. چیزی تغییر نمی‌کند.',
  add: (count: number) => (count === 0 ? 'افزودن به رکوردها' : `افزودن ${grouped(count)} تغییر به رکوردها`),
  added: (count: number) => `${grouped(count)} تغییر افزوده شد. آن‌ها را مرور و ذخیره کنید.`,
};
