// Persian texts of the reseller's pages.

import { grouped, ltr } from './figures.ts';

export const reseller = {
  pages: { clients: 'مشتریان', tokens: 'توکن‌های ماشینی' },
  unlock: {
    why: 'این صفحه‌ها به حساب‌ها و پول مشتریان شما دسترسی می‌دهند. با خروج از این صفحه‌ها یا بارگذاری دوبارهٔ کنسول بسته می‌شوند.',
    noPassword: 'این صفحه‌ها به گذرواژه نیاز دارند و حساب شما هنوز گذرواژه ندارد.',
    ended: 'ابتدا گذرواژهٔ خود را تأیید کنید.',
  },
  clients: {
    ownWallet: 'کیف پول شما',
    search: 'جست‌وجو',
    searchHint: 'ایمیل یا نام',
    state: 'وضعیت',
    allStates: 'همه',
    states: { active: 'فعال', inactive: 'غیرفعال' },
    noPassword: 'هنوز بدون گذرواژه',
    make: 'ساخت مشتری',
    emailHint: 'نباید به حساب دیگری تعلق داشته باشد. پیوندی ایمیل می‌کنیم تا صاحب آن گذرواژه تعیین کند.',
    none: 'هنوز مشتری ندارید',
    noneText:
      'مشتری حسابی است که شما مدیریت می‌کنید: هزینهٔ دامنه‌هایش را می‌پردازید و می‌توانید آن‌ها را اداره کنید.',
    noMatch: 'مشتری با این مشخصات پیدا نشد',
    clear: 'پاک کردن فیلترها',
  },
  client: {
    account: 'حساب',
    confirmed: 'ایمیل تأیید شده',
    hasPassword: 'گذرواژه تعیین شده',
    activate: 'فعال کردن دوبارهٔ حساب',
    deactivate: 'غیرفعال کردن حساب',
    deactivateTitle: (email: string) => `حساب ${ltr(email)} غیرفعال شود؟`,
    deactivateText:
      'مشتری دیگر نمی‌تواند وارد شود و کلیدهای API او از کار می‌افتند. به دامنه‌هایش همچنان پاسخ داده می‌شود و شما مانند گذشته آن‌ها را اداره می‌کنید.',
  },
  transfer: {
    direction: 'انتقال',
    directions: { credit: 'از کیف پول شما به مشتری', debit: 'از مشتری به کیف پول شما' },
    own: 'بین کیف پول شما و کیف پول مشتری.',
    ownBalance: (balance: string) => `موجودی کیف پول شما ${balance} است.`,
    wrongAmount: 'مبلغی صحیح و بیشتر از ۰ وارد کنید.',
    description: 'شرح',
    descriptionHint: 'اختیاری. هر دو حساب آن را در تراکنش‌های خود می‌بینند.',
    byDefault: 'انتقال',
    button: 'انتقال',
    done: {
      credit: (amount: string) => `${amount} به مشتری منتقل شد.`,
      debit: (amount: string) => `${amount} به کیف پول شما منتقل شد.`,
    },
    notNeeded: 'پیش از خرید به انتقال نیازی نیست: کسری کیف پول مشتری از کیف پول شما پرداخت می‌شود.',
  },
  services: {
    add: 'افزودن دامنه',
    added: (domain: string) =>
      `${ltr(domain)} افزوده شد. آن را باز کنید تا ببینید کدام سرورهای نام باید نزد ثبت‌کننده ثبت شوند.`,
    none: 'هنوز دامنه‌ای نیست',
    noneText: 'یک دامنه همراه با طرح بیفزایید.',
    domain: 'دامنه',
    domainHint:
      'اگر دامنه هم‌اکنون از این سرورهای نام استفاده می‌کند، ابتدا از اپراتور بخواهید آن را تأیید کند. وگرنه تا زمان بررسی واگذاری از دسترس خارج می‌شود.',
    plan: 'طرح',
    payHint: 'هزینه از کیف پول مشتری و باقی آن از کیف پول شما پرداخت می‌شود.',
    changeHint:
      'هزینهٔ زمان استفاده‌نشده به کیف پول‌هایی که آن را پرداخته‌اند برمی‌گردد و دورهٔ تازه از همین حالا آغاز می‌شود.',
    noTerms: 'اپراتور در حال حاضر طرحی نمی‌فروشد.',
    term: (plan: string, price: string, days: number) =>
      price === '' ? `${plan}، ${grouped(days)} روز` : `${plan}، ${grouped(days)} روز: ${price}`,
    served: { apex: 'هنوز واگذار نشده', none: 'بدون پاسخ‌دهی' },
    unpaid: 'پرداخت‌نشده. پایان طرح:',
    renewal: { on: 'خودکار تمدید می‌شود', off: 'تمدید نمی‌شود' },
    of: (action: string, domain: string) => `${action}: ${ltr(domain)}`,
    change: 'تغییر طرح',
    changeTitle: (domain: string) => `تغییر طرح ${ltr(domain)}`,
    changed: (domain: string) => `طرح ${ltr(domain)} تغییر کرد.`,
    cancel: 'لغو طرح',
    cancelTitle: (domain: string) => `طرح ${ltr(domain)} لغو شود؟`,
    cancelText: 'طرح بی‌درنگ پایان می‌یابد و وجهی بازگردانده نمی‌شود. دامنه با طرح رایگان باقی می‌ماند.',
    cancelled: (domain: string) => `طرح ${ltr(domain)} لغو شد.`,
  },
  tokens: {
    what: 'برنامه‌های شما برای API نمایندهٔ فروش از توکن ماشینی استفاده می‌کنند. توکن هر کاری را که در این صفحه‌ها ممکن است انجام می‌دهد، به‌جز مدیریت توکن‌ها.',
    make: 'ساخت توکن',
    made: (name: string) => `توکن «${name}» ساخته شد.`,
    token: 'توکن',
    none: 'هنوز توکنی ندارید',
    forHint: 'نمونه: صورت‌حساب',
    states: { active: 'فعال', expired: 'منقضی', revoked: 'باطل‌شده' },
    of: (action: string, name: string) => `${action}: ${name}`,
    revokeTitle: (name: string) => `توکن «${name}» باطل شود؟`,
    revokeText: 'درخواست‌های دارای این توکن بی‌درنگ رد می‌شوند. این کار بازگشت‌پذیر نیست.',
    revoked: (name: string) => `توکن «${name}» باطل شد.`,
  },
};
