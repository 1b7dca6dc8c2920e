// Persian texts of edge rules.

import type { Schemas } from '../../api/client.ts';
import { grouped, listed, ltr } from './figures.ts';

/** `۴۵ ثانیه`, `۵ دقیقه`, `۱ ساعت`: in the largest unit without a fraction. */
function time(seconds: number): string {
  if (seconds > 0 && seconds % 86_400 === 0) return `${grouped(seconds / 86_400)} روز`;
  if (seconds > 0 && seconds % 3600 === 0) return `${grouped(seconds / 3600)} ساعت`;
  if (seconds > 0 && seconds % 60 === 0) return `${grouped(seconds / 60)} دقیقه`;
  return `${grouped(seconds)} ثانیه`;
}

/** At most ten texts, and the number of the others. */
function firstOf(texts: readonly string[]): string {
  const first = listed(texts.slice(0, 10).map(ltr));
  return texts.length <= 10 ? first : `${first} و ${grouped(texts.length - 10)} مورد دیگر`;
}

export const rules = {
  intro:
    'قوانین تعیین می‌کنند که لبه‌های ما با درخواست‌های نام‌های عبوری از لبه چه کنند. ترتیب اعمال آن‌ها از بالا به پایین است.',
  types: {
    drop: 'مسدودسازی',
    rate_limit: 'محدودیت نرخ',
    bot_route: 'ربات‌ها',
    fingerprint: 'اثر انگشت',
    waf: 'فایروال برنامهٔ وب',
    captcha: 'کپچا',
    redirect: 'تغییر مسیر',
    rewrite: 'بازنویسی',
    cache: 'کش',
    origin_route: 'سرور مبدأ دیگر',
    origin_pool: 'چند سرور مبدأ',
    error_page: 'صفحه‌های خطا',
  },
  about: {
    redirect: 'بازدیدکنندگان را به نشانی دیگری می‌فرستد.',
    drop: 'درخواست‌ها را بر پایهٔ کشور یا مسیر مسدود می‌کند.',
    rate_limit: 'تعداد درخواست‌های هر بازدیدکننده را محدود می‌کند.',
    bot_route: 'شیوهٔ برخورد با ربات‌ها را تعیین می‌کند.',
    fingerprint: 'شیوهٔ برخورد با کلاینت‌های دارای اثر انگشت TLS مشخص را تعیین می‌کند.',
    waf: 'درخواست‌هایی را که به حمله شباهت دارند مسدود می‌کند.',
    captcha: 'از بازدیدکنندگان می‌خواهد ثابت کنند که انسان‌اند.',
    rewrite: 'مسیری را که از سرور شما درخواست می‌شود تغییر می‌دهد.',
    cache: 'مدت نگهداری پاسخ‌ها در کش را تعیین می‌کند.',
    origin_route: 'درخواست‌ها را به سرور دیگری می‌فرستد.',
    origin_pool: 'درخواست‌ها را میان چند سرور پخش می‌کند.',
    error_page: 'به‌جای خطا، صفحهٔ خودتان را نشان می‌دهد.',
  },
  add: 'افزودن قانون',
  addOne: 'افزودن',
  addOf: (type: string) => `افزودن قانون از نوع «${type}»`,
  chooseTitle: 'انتخاب نوع قانون',
  none: 'هنوز قانونی وجود ندارد',
  noneText:
    'برای تغییر مسیر، مسدودسازی، کش یا مسیریابی دوبارهٔ درخواست‌های نام‌های عبوری از لبه، یک قانون بیفزایید.',
  noneOf: 'نوع‌های بدون قانون:',
  noPlan: 'طرح این دامنه قوانین را در بر ندارد.',
  noPlanButRules:
    'طرح این دامنه قوانین را در بر ندارد. قوانین موجود همچنان اعمال می‌شوند. می‌توانید آن‌ها را خاموش یا حذف کنید.',
  toPlan: 'مقایسهٔ طرح‌ها',
  count: (count: number, limit: number | null): string =>
    limit === null ? `${grouped(count)} قانون` : `${grouped(count)} قانون از ${grouped(limit)} قانون`,
  list: (type: string) => `قوانین نوع «${type}»، به ترتیب اعمال`,
  showAll: (count: number) => `نمایش هر ${grouped(count)} قانون`,
  rule: (id: number) => `قانون ${id}`,
  off: 'خاموش',
  dryRun: 'فقط ثبت در گزارش',
  switchOn: 'روشن کردن',
  switchOff: 'خاموش کردن',
  edit: 'ویرایش',
  upOf: (id: number) => `انتقال قانون ${id} به بالا`,
  downOf: (id: number) => `انتقال قانون ${id} به پایین`,
  moved: (id: number, place: number, count: number) =>
    `قانون ${id} اکنون شمارهٔ ${grouped(place)} از ${grouped(count)} است.`,
  toggleOf: (id: number, isOn: boolean): string => `${isOn ? 'خاموش' : 'روشن'} کردن قانون ${id}`,
  editOf: (id: number) => `ویرایش قانون ${id}`,
  deleteOf: (id: number) => `حذف قانون ${id}`,
  /** What a rule does, as a sentence without a full stop. */
  summary: {
    drop: ({ countries, country_match_type: match }: Schemas['DropRule']): string => {
      if (countries.length === 0) return 'همهٔ درخواست‌ها را مسدود می‌کند';
      const listed = firstOf(countries);
      return match === 'include'
        ? `درخواست‌های ${listed} را مسدود می‌کند`
        : `درخواست‌های همهٔ کشورها به‌جز ${listed} را مسدود می‌کند`;
    },
    rate_limit: (rule: Schemas['RateLimitRule']): string => {
      const per = { ip: 'هر نشانی', ip_path: 'هر نشانی و مسیر', header: `هر مقدار ${ltr(rule.header)}` }[
        rule.key
      ];
      const allowed = `برای ${per}، ${grouped(rule.requests)} درخواست در ${time(rule.period_seconds)} مجاز است`;
      if (rule.action === 'delay') return `${allowed} و بقیه کند می‌شوند`;
      if (rule.action === 'captcha') return `${allowed} و پس از آن کپچا نمایش داده می‌شود`;
      return rule.block_seconds === 0
        ? `${allowed} و بقیه مسدود می‌شوند`
        : `${allowed} و پس از آن، دسترسی ${time(rule.block_seconds)} مسدود می‌شود`;
    },
    bot_route: ({ bots, list, action, destination }: Schemas['BotRouteRule']): string => {
      const which = {
        verified: 'ربات‌های تأییدشده',
        unverified: 'ربات‌های تأییدنشده',
        list: `ربات‌های ${firstOf(list)}`,
      }[bots];
      return {
        allow: `به ${which} اجازه می‌دهد`,
        block: `${which} را مسدود می‌کند`,
        captcha: `به ${which} کپچا نشان می‌دهد`,
        route: `${which} را به ${ltr(destination)} می‌فرستد`,
      }[action];
    },
    fingerprint: ({ fingerprints, action }: Schemas['FingerprintRule']): string => {
      const clients = `کلاینت‌های دارای ${grouped(fingerprints.length)} اثر انگشت TLS`;
      return {
        allow: `به ${clients} اجازه می‌دهد`,
        block: `${clients} را مسدود می‌کند`,
        captcha: `به ${clients} کپچا نشان می‌دهد`,
      }[action];
    },
    waf: ({ threshold, paranoia }: Schemas['WafRule']) =>
      `درخواست‌های با امتیاز ${grouped(threshold)} یا بیشتر را با سخت‌گیری ${grouped(paranoia)} مسدود می‌کند`,
    captcha: ({ valid_seconds: seconds }: Schemas['CaptchaRule']) =>
      `کپچا نشان می‌دهد که ${time(seconds)} معتبر است`,
    redirect: ({ target, status_code: code }: Schemas['RedirectRule']) =>
      `با ${code} به ${ltr(target)} می‌فرستد`,
    rewrite: ({ path_target: path }: Schemas['RewriteRule']) => `از سرور شما ${ltr(path)} را درخواست می‌کند`,
    cache: ({ bypass, ttl_seconds: seconds, respect_origin: respects }: Schemas['CacheRule']): string => {
      if (bypass) return 'پاسخ‌ها را در کش نگه نمی‌دارد';
      const caches = `پاسخ‌ها را ${time(seconds)} در کش نگه می‌دارد`;
      return respects ? `${caches}، مگر آنکه سرور شما زمان دیگری تعیین کند` : caches;
    },
    origin_route: ({ destination, port, scheme }: Schemas['OriginRouteRule']): string =>
      scheme === 'http' || scheme === 'https'
        ? `درخواست‌ها را با ${scheme} به ${ltr(destination)}، پورت ${port}، می‌فرستد`
        : `درخواست‌ها را به ${ltr(destination)}، پورت ${port}، می‌فرستد`,
    origin_pool: ({ origins }: Schemas['OriginPoolRule']): string =>
      origins.length === 1
        ? `درخواست‌ها را به ${ltr(origins[0]?.host ?? '')} می‌فرستد`
        : `درخواست‌ها را میان ${grouped(origins.length)} سرور پخش می‌کند`,
    error_page: ({ status_codes: codes }: Schemas['ErrorPageRule']) =>
      `برای ${firstOf(codes.map(String))} صفحهٔ خودتان را نشان می‌دهد`,
  },
  /** Which requests a rule applies to. */
  scope: {
    everywhere: 'کل دامنه',
    hosts: (names: readonly string[]) => firstOf(names),
    record: (id: number) => `رکورد ${id}`,
    host: {
      exact: (pattern: string) => `میزبان ${ltr(pattern)}`,
      wildcard: (pattern: string) => `میزبان‌های مطابق ${ltr(pattern)}`,
      regex: (pattern: string) => `میزبان‌های مطابق عبارت ${ltr(pattern)}`,
    },
    allPaths: 'همهٔ مسیرها',
    paths: {
      wildcard: (patterns: readonly string[]) => `مسیرهای ${firstOf(patterns)}`,
      regex: (patterns: readonly string[]) => `مسیرهای مطابق عبارت ${firstOf(patterns)}`,
    },
    except: (patterns: readonly string[]) => `به‌جز ${firstOf(patterns)}`,
  },
  test: {
    title: 'آزمایش یک URL',
    hint: 'نشان می‌دهد کدام قوانین برای یک درخواست اعمال می‌شوند. چیزی به سرور شما فرستاده نمی‌شود.',
    url: 'URL یا مسیر',
    country: 'کشور بازدیدکننده',
    countryHint: 'کدی مانند DE. اگر نمی‌دانید، خالی بگذارید.',
    agent: 'User-Agent',
    agentHint: 'اگر نمی‌دانید، خالی بگذارید.',
    fingerprint: 'اثر انگشت TLS',
    fingerprintHint: 'JA3 یا JA4. اگر نمی‌دانید، خالی بگذارید.',
    run: 'آزمایش',
    close: 'بستن نتیجه',
    problems: {
      url: `یک URL مانند ${ltr('https://www.example.com/path')} یا مسیری که با ${ltr('/')} آغاز می‌شود وارد کنید.`,
      long: 'حداکثر ۲٬۰۴۸ نویسه وارد کنید.',
      country: 'کد دوحرفی کشور را وارد کنید.',
    },
    foreign: (host: string, domain: string) =>
      `${ltr(host)} از نام‌های ${ltr(domain)} نیست. یک URL از همین دامنه وارد کنید.`,
    result: (url: string) => `نتیجه برای ${ltr(url)}`,
    steps: 'قوانین به ترتیب اعمال',
    misses: (count: number) => `${grouped(count)} قانون اعمال نمی‌شود`,
    outcomes: {
      acts: 'اعمال می‌شود',
      unsure: 'شاید اعمال شود',
      log: 'فقط ثبت در گزارش',
      miss: 'اعمال نمی‌شود',
    },
    why: {
      off: 'قانون خاموش است.',
      record: 'قانون برای نام‌های دیگری است.',
      host: 'میزبان مطابقت ندارد.',
      path: 'مسیر مطابقت ندارد.',
      excluded: 'مسیر مستثنا شده است.',
      country: 'کشور مطابقت ندارد.',
      agent: 'User-Agent مطابقت ندارد.',
      fingerprint: 'اثر انگشت مطابقت ندارد.',
      earlier: 'قانون پیشین دیگری از این نوع اعمال می‌شود.',
      exempt: 'یک قانون ربات‌ها بازدیدکننده را از کپچا معاف می‌کند.',
    },
    unsure: {
      country: 'به کشور بازدیدکننده بستگی دارد. در بالا یک کشور وارد کنید.',
      agent: 'به User-Agent بستگی دارد. در بالا آن را وارد کنید.',
      fingerprint: 'به اثر انگشت TLS بستگی دارد. در بالا آن را وارد کنید.',
      bots: 'تنها لبه می‌تواند ربات‌های تأییدشده را بشناسد.',
    },
    log: 'تطبیق در گزارش ثبت می‌شود و درخواست ادامه می‌یابد.',
    limits: 'تعداد درخواست‌های پیشین را تنها لبه می‌داند.',
    scores: 'امتیاز را تنها لبه محاسبه می‌کند.',
    solves: 'پس از حل کپچا، درخواست ادامه می‌یابد.',
    located: (status: number, location: string) => `با ${status} به ${ltr(location)} می‌فرستد`,
    rewritten: (path: string) => `از سرور شما ${ltr(path)} را درخواست می‌کند`,
    pages: (codes: readonly number[]) =>
      `اگر پاسخ ${firstOf(codes.map(String))} باشد، صفحهٔ خودتان را نشان می‌دهد`,
    developing: 'حالت توسعه‌دهنده روشن است و از کش استفاده نمی‌شود.',
    recordCaptcha: (name: string) => `رکورد ${ltr(name)} به کپچا نیاز دارد.`,
    ends: {
      none: (host: string) => `هیچ قانونی اعمال نمی‌شود: ${ltr(host)} رکوردی ندارد.`,
      direct: (host: string) =>
        `هیچ قانونی اعمال نمی‌شود: ${ltr(host)} عبوری از لبه نیست و ترافیک آن از لبه‌های ما نمی‌گذرد.`,
      suspended: 'دامنه معلق است: لبه‌ها همهٔ درخواست‌ها را با 403 رد می‌کنند.',
      badPath: 'لبه‌ها این مسیر را پیش از اعمال قوانین با 400 رد می‌کنند.',
      blocked: (id: number) => `قانون ${id} درخواست را با 403 مسدود می‌کند.`,
      redirected: (status: number, location: string) =>
        `بازدیدکننده با ${status} به ${ltr(location)} فرستاده می‌شود.`,
      record: (path: string, name: string) => `${ltr(path)} از سرور شما درخواست می‌شود (رکورد ${ltr(name)}).`,
      rule: (path: string, id: number) => `${ltr(path)} از سرور قانون ${id} درخواست می‌شود.`,
    },
    unless: (ids: readonly number[]): string =>
      ids.length === 1
        ? `شاید قانون ${ids[0]} این نتیجه را تغییر دهد.`
        : `شاید قوانین ${listed(ids.map(String))} این نتیجه را تغییر دهند.`,
    toRecords: 'باز کردن رکوردها',
  },
  unsupported: (edges: number, why: string) => `${grouped(edges)} لبه از آن پشتیبانی نمی‌کند: ${why}`,
  all: 'همهٔ جزئیات',
  newTitle: (type: string) => `قانون جدید: ${type}`,
  editTitle: (id: number) => `قانون ${id}`,
  saved: 'قانون ذخیره شد.',
  deleted: (id: number) => `قانون ${id} حذف شد.`,
  deleteTitle: (id: number) => `قانون ${id} حذف شود؟`,
  deleteText: 'بی‌درنگ از کار می‌افتد. می‌توانید آن را از تاریخچه برگردانید.',
  json: 'قانون به شکل JSON',
  jsonHint:
    'در قانون جدید، فیلدهای نیامده مقدار پیش‌فرض دارند. در قانون موجود، تغییر نمی‌کنند. پیام خطا نام فیلد نادرست را نشان می‌دهد.',
  noJson: 'این متن یک شیء JSON نیست.',
  asJson: 'ویرایش به شکل JSON',
  asFields: 'بازگشت به فیلدها',
  more: 'گزینه‌های بیشتر: میزبان‌ها، تطبیق مسیر، اولویت',
  preview: 'پیش‌نمایش',
  previewText: 'کنسول اسکریپت و شیوه‌نامه را اجرا نمی‌کند، پس پیش‌نمایش صفحه را بدون آن‌ها نشان می‌دهد.',
  origins: {
    title: 'سرورها',
    one: (place: number) => `سرور ${grouped(place)}`,
    host: 'نام یا نشانی',
    scheme: 'پروتکل',
    port: 'پورت',
    weight: 'وزن',
    backup: 'فقط اگر بقیه از دسترس خارج باشند',
    remove: 'حذف',
    removeOf: (place: number) => `حذف سرور ${grouped(place)}`,
    add: 'افزودن سرور',
  },
  /** Label and hint by field, or by type and field if a type needs its own. */
  fields: {
    target: ['مقصد', `نشانی، مانند ${ltr('https://www.example.com/')}، یا یک مسیر.`],
    status_code: ['کد وضعیت', 'مرورگرها تغییر مسیرهای دائمی را در کش نگه می‌دارند.'],
    preserve_query: [`حفظ پرس‌وجوی نشانی (بخش پس از ${ltr('?')})`, undefined],
    preserve_path: ['حفظ مسیر', undefined],
    country_match_type: ['کشورها', undefined],
    countries: ['کد کشورها', `نمونه: ${ltr('DE, FR')}. برای همهٔ کشورها خالی بگذارید.`],
    requests: ['درخواست‌ها', 'تعداد درخواست‌های مجاز در بازه.'],
    period_seconds: ['بازه به ثانیه', undefined],
    key: ['شمارش بر پایهٔ', undefined],
    header: ['سرآیند', 'نام سرآیند با حروف کوچک.'],
    action: ['اقدام', undefined],
    'rate_limit action': ['اقدام پس از رسیدن به سقف', undefined],
    block_seconds: ['مدت مسدودی به ثانیه', undefined],
    bots: ['کدام ربات‌ها', 'موتورهای جست‌وجوی بزرگ را می‌توان راستی‌آزمایی کرد.'],
    list: ['بخشی از نام آن‌ها', 'هر سطر یک مورد، مطابق سرآیند User-Agent. بزرگی و کوچکی حروف مهم نیست.'],
    'bot_route destination': ['سرور', `نام یا نشانی، بدون ${ltr('https://')}.`],
    destination: ['سرور', `نام یا نشانی، بدون ${ltr('https://')}.`],
    fingerprints: ['اثر انگشت‌ها', 'JA3 یا JA4، با فاصله از هم جدا شوند.'],
    paranoia: [
      'سخت‌گیری',
      'قوانین سخت‌گیرانه‌تر حمله‌های بیشتری را می‌یابند، اما درخواست‌های سالم بیشتری را هم مسدود می‌کنند.',
    ],
    threshold: [
      'مسدودسازی از امتیاز',
      'هر بخش مشکوک به امتیاز می‌افزاید. حد پایین‌تر درخواست‌های بیشتری را مسدود می‌کند.',
    ],
    body_cap_kb: ['مقدار بازرسی بدنهٔ درخواست به کیلوبایت', 'برای بازرسی نکردن بدنه، ۰ وارد کنید.'],
    rule_excludes: ['قوانین مستثنا', 'شمارهٔ آن‌ها در Core Rule Set، با فاصله از هم جدا شوند.'],
    mode: ['گونه', undefined],
    valid_seconds: ['مدت اعتبار به ثانیه', undefined],
    path_target: ['مسیر جدید', `در عبارت‌های باقاعده، ${ltr('$1')} متنی است که با گروه نخست مطابقت دارد.`],
    query_mode: [`پرس‌وجوی نشانی (بخش پس از ${ltr('?')})`, undefined],
    query_target: ['پرس‌وجوی جدید', `بدون ${ltr('?')} در آغاز.`],
    bypass: ['بدون کش؛ همیشه از سرور شما دریافت شود', undefined],
    ttl_seconds: ['مدت نگهداری در کش لبه به ثانیه', '۳۶۰۰ برابر یک ساعت است.'],
    browser_ttl_seconds: ['مدت نگهداری در کش مرورگر به ثانیه', 'برای حفظ تنظیم سرور خود، خالی بگذارید.'],
    respect_origin: ['Cache-Control سرور شما مقدم است', undefined],
    key_query: ['پارامترهای نشانی در کلید کش', undefined],
    key_query_list: ['این پارامترها', 'هر سطر یک مورد.'],
    key_headers: ['سرآیندها در کلید کش', 'نام آن‌ها با حروف کوچک، با فاصله از هم جدا شوند.'],
    scheme: ['پروتکل', undefined],
    port: ['پورت', undefined],
    host_header: ['سرآیند Host', 'برای حفظ Host بازدیدکننده، خالی بگذارید.'],
    method: ['توزیع بار', undefined],
    health: ['بررسی منظم هر سرور', undefined],
    'health.path': ['مسیر بررسی', undefined],
    'health.status': ['کد وضعیت مورد انتظار', undefined],
    'health.interval_seconds': ['فاصلهٔ بررسی‌ها به ثانیه', undefined],
    status_codes: ['برای این خطاها', `نمونه: ${ltr('404 502 503')}`],
    content_type: ['نوع محتوا', undefined],
    html: ['محتوای صفحه', 'حداکثر ۲۵۶ کیبی‌بایت.'],
    path_includes: ['این مسیرها', `هر سطر یک مورد. ${ltr('*')} یعنی هر چیزی.`],
    path_excludes: ['به‌جز این مسیرها', 'هر سطر یک مورد.'],
    path_match_type: ['تطبیق مسیر', undefined],
    host_match_type: ['تطبیق میزبان', undefined],
    host_pattern: ['میزبان', 'با حروف کوچک.'],
    priority: ['اولویت', 'قوانین با عدد کوچک‌تر زودتر اعمال می‌شوند.'],
    action_mode: ['در صورت تطبیق', undefined],
  } as Readonly<Record<string, readonly [string, string | undefined]>>,
  choices: {
    '301': '301، دائمی',
    '302': '302، موقت',
    '307': '307، موقت، با همان متد',
    '308': '308، دائمی، با همان متد',
    include: 'از این کشورها',
    exclude: 'از همهٔ کشورها به‌جز این‌ها',
    ip: 'نشانی',
    ip_path: 'نشانی و مسیر',
    header: 'مقدار سرآیند',
    block: 'مسدود کردن',
    captcha: 'نمایش کپچا',
    delay: 'کند کردن',
    allow: 'اجازه دادن',
    route: 'فرستادن به سرور دیگر',
    unverified: 'ربات‌های تأییدنشده',
    verified: 'ربات‌های تأییدشده',
    'bots list': 'ربات‌های دارای این نام‌ها',
    'paranoia 1': '۱، هشدار نادرست کم',
    'paranoia 2': '۲',
    'paranoia 3': '۳',
    'paranoia 4': '۴، هشدار نادرست زیاد',
    js: 'خودکار، در مرورگر',
    image: 'حل تصویر',
    preserve: 'همان‌گونه که بازدیدکننده فرستاده است',
    strip: 'حذف شود',
    replace: 'جایگزین شود',
    all: 'همه',
    none: 'هیچ‌کدام',
    'key_query list': 'برخی پارامترها',
    https: 'https',
    http: 'http',
    auto: 'خودکار',
    default: 'مانند بازدیدکننده',
    round_robin: 'به نوبت، بر پایهٔ وزن',
    hash: 'برای هر بازدیدکننده همیشه همان سرور',
    least_time: 'سروری که سریع‌تر پاسخ می‌دهد',
    'text/html': 'صفحه (HTML)',
    'text/plain': 'متن ساده',
    'application/json': 'JSON',
    'path_match_type wildcard': `عین متن؛ ${ltr('*')} یعنی هر چیزی`,
    'path_match_type regex': 'عبارت‌های باقاعده',
    'host_match_type ': 'همه',
    'host_match_type exact': 'دقیقاً یکی',
    'host_match_type wildcard': `عین متن؛ ${ltr('*')} یعنی هر چیزی`,
    'host_match_type regex': 'یک عبارت باقاعده',
    enforce: 'اعمال قانون',
    dry_run: 'فقط نوشتن در گزارش',
  } as Readonly<Record<string, string>>,
};
