// Persian texts of the line that adds a record, and of pasted zone files.

import { ltr } from './figures.ts';

export const quickAdd = {
  label: 'افزودن رکورد به شکل متن',
  placeholder: 'www A 192.0.2.1',
  hint: 'نام، نوع و مقدار را وارد کنید. فایل زون را هم می‌توانید هر جای این صفحه جای‌گذاری یا رها کنید.',
  add: 'افزودن',
  added: (name: string, type: string) => `${ltr(`${name} ${type}`)} به تغییرهای ذخیره‌نشده افزوده شد.`,
  preview: 'این رکورد افزوده خواهد شد:',
  notZone: 'این متن فایل زون یا JSON سرویس Route 53 نیست و درون‌ریزی نشد.',
  drop: 'برای مرور رکوردها، فایل زون را رها کنید',
  problems: {
    noType: () => 'پس از نام، نوع را وارد کنید، مانند A، CNAME یا TXT.',
    noName: (type: string) => `نام و مقدار رکورد ${type} را وارد کنید.`,
    noValue: (type: string) => `مقدار رکورد ${type} را وارد کنید.`,
    noPart: (part: string) => `مقدار کامل نیست. بخش جاافتاده: ${part}.`,
    noPriority: () => 'پیش از سرور ایمیل، اولویت را وارد کنید، مانند 10.',
    unknownType: (text: string) => `«${text}» نوع رکورد نیست.`,
    unknownWord: (text: string) => `«${text}» نه TTL است و نه نوع.`,
    otherClass: (text: string) => `کلاس «${text}» پشتیبانی نمی‌شود. آن را حذف کنید یا IN بنویسید.`,
    notIpv4: (text: string) => `«${text}» نشانی IPv4 نیست.`,
    notIpv6: (text: string) => `«${text}» نشانی IPv6 نیست.`,
  },
};
