// The minimal body of each rule type.

export const SMALLEST: Readonly<Record<string, Record<string, unknown>>> = {
  drop: {},
  rate_limit: {},
  bot_route: {},
  fingerprint: { fingerprints: ['0'.repeat(32)] },
  waf: {},
  captcha: {},
  redirect: { target: '/new' },
  rewrite: { path_target: '/new' },
  cache: {},
  origin_route: { destination: 'origin.example.net' },
  origin_pool: { origins: [{ host: '192.0.2.1' }] },
  error_page: { status_codes: [502], html: '<p>Soon.</p>' },
};
