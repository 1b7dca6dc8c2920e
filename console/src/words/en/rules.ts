// English texts of edge rules.

import type { Schemas } from '../../api/client.ts';
import { grouped, listed, plural } from './figures.ts';

/** `45 seconds`, `5 minutes`, `1 hour`: in the largest unit without a fraction. */
function time(seconds: number): string {
  if (seconds > 0 && seconds % 86_400 === 0) return plural(seconds / 86_400, 'day', 'days');
  if (seconds > 0 && seconds % 3600 === 0) return plural(seconds / 3600, 'hour', 'hours');
  if (seconds > 0 && seconds % 60 === 0) return plural(seconds / 60, 'minute', 'minutes');
  return plural(seconds, 'second', 'seconds');
}

/** At most ten texts, and the number of the others. */
function firstOf(texts: readonly string[]): string {
  if (texts.length <= 10) return listed(texts);
  return `${listed(texts.slice(0, 10))} and ${grouped(texts.length - 10)} more`;
}

export const rules = {
  intro:
    'Rules control how our edges handle requests for proxied names. They are applied from top to bottom.',
  types: {
    drop: 'Drop',
    rate_limit: 'Rate limit',
    bot_route: 'Bots',
    fingerprint: 'Fingerprints',
    waf: 'Web application firewall',
    captcha: 'Captcha',
    redirect: 'Redirect',
    rewrite: 'Rewrite',
    cache: 'Cache',
    origin_route: 'Another origin',
    origin_pool: 'Several origins',
    error_page: 'Error pages',
  },
  about: {
    redirect: 'Sends visitors to another address.',
    drop: 'Blocks requests by country or path.',
    rate_limit: 'Limits the number of requests per visitor.',
    bot_route: 'Sets how bots are handled.',
    fingerprint: 'Sets how clients with certain TLS fingerprints are handled.',
    waf: 'Blocks requests that look like attacks.',
    captcha: 'Requires visitors to prove that they are human.',
    rewrite: 'Changes the path that is requested from your server.',
    cache: 'Sets how long responses are cached.',
    origin_route: 'Sends requests to another server.',
    origin_pool: 'Distributes requests over several servers.',
    error_page: 'Shows your own page instead of an error.',
  },
  add: 'Add a rule',
  addOne: 'Add',
  addOf: (type: string) => `Add a rule of type ${type}`,
  chooseTitle: 'Choose a rule type',
  none: 'There are no rules yet',
  noneText: 'Add a rule to redirect, block, cache or reroute requests for proxied names.',
  noneOf: 'Types without rules:',
  noPlan: 'The plan of this domain does not include rules.',
  noPlanButRules:
    'The plan of this domain does not include rules. Existing rules stay in effect. You can turn them off and delete them.',
  toPlan: 'Compare plans',
  count: (count: number, limit: number | null): string =>
    limit === null
      ? plural(count, 'rule', 'rules')
      : `${grouped(count)} of ${plural(limit, 'rule', 'rules')}`,
  list: (type: string) => `Rules of type ${type}, in the order in which they are applied`,
  showAll: (count: number) => `Show all ${grouped(count)} rules`,
  rule: (id: number) => `Rule ${id}`,
  off: 'off',
  dryRun: 'log only',
  switchOn: 'Turn on',
  switchOff: 'Turn off',
  edit: 'Edit',
  upOf: (id: number) => `Move rule ${id} up`,
  downOf: (id: number) => `Move rule ${id} down`,
  moved: (id: number, place: number, count: number) =>
    `Rule ${id} is now number ${grouped(place)} of ${grouped(count)}.`,
  toggleOf: (id: number, isOn: boolean): string => `Turn ${isOn ? 'off' : 'on'} rule ${id}`,
  editOf: (id: number) => `Edit rule ${id}`,
  deleteOf: (id: number) => `Delete rule ${id}`,
  /** What a rule does, as a sentence without a full stop. */
  summary: {
    drop: ({ countries, country_match_type: match }: Schemas['DropRule']): string => {
      if (countries.length === 0) return 'Blocks every request';
      const listed = firstOf(countries);
      return match === 'include'
        ? `Blocks requests from ${listed}`
        : `Blocks requests from all countries except ${listed}`;
    },
    rate_limit: (rule: Schemas['RateLimitRule']): string => {
      const per = { ip: 'address', ip_path: 'address and path', header: `value of ${rule.header}` }[rule.key];
      const allowed = `Allows ${plural(rule.requests, 'request', 'requests')} in ${time(rule.period_seconds)} per ${per}`;
      if (rule.action === 'delay') return `${allowed}, and slows down the others`;
      if (rule.action === 'captcha') return `${allowed}, then requires a captcha`;
      return rule.block_seconds === 0
        ? `${allowed}, and blocks the others`
        : `${allowed}, then blocks for ${time(rule.block_seconds)}`;
    },
    bot_route: ({ bots, list, action, destination }: Schemas['BotRouteRule']): string => {
      const which = {
        verified: 'verified bots',
        unverified: 'unverified bots',
        list: `bots named ${firstOf(list)}`,
      }[bots];
      return {
        allow: `Allows ${which}`,
        block: `Blocks ${which}`,
        captcha: `Requires a captcha from ${which}`,
        route: `Sends ${which} to ${destination}`,
      }[action];
    },
    fingerprint: ({ fingerprints, action }: Schemas['FingerprintRule']): string => {
      const clients = `clients with ${plural(fingerprints.length, 'TLS fingerprint', 'TLS fingerprints')}`;
      return {
        allow: `Allows ${clients}`,
        block: `Blocks ${clients}`,
        captcha: `Requires a captcha from ${clients}`,
      }[action];
    },
    waf: ({ threshold, paranoia }: Schemas['WafRule']) =>
      `Blocks requests with a score of ${threshold} or more, at strictness ${paranoia}`,
    captcha: ({ valid_seconds: seconds }: Schemas['CaptchaRule']) =>
      `Requires a captcha, which is valid for ${time(seconds)}`,
    redirect: ({ target, status_code: code }: Schemas['RedirectRule']) =>
      `Redirects to ${target} with ${code}`,
    rewrite: ({ path_target: path }: Schemas['RewriteRule']) => `Requests ${path} from your server`,
    cache: ({ bypass, ttl_seconds: seconds, respect_origin: respects }: Schemas['CacheRule']): string => {
      if (bypass) return 'Does not cache responses';
      const caches = `Caches responses for ${time(seconds)}`;
      return respects ? `${caches}, unless your server sets another time` : caches;
    },
    origin_route: ({ destination, port, scheme }: Schemas['OriginRouteRule']): string =>
      scheme === 'http' || scheme === 'https'
        ? `Sends requests to ${destination}, port ${port}, over ${scheme}`
        : `Sends requests to ${destination}, port ${port}`,
    origin_pool: ({ origins }: Schemas['OriginPoolRule']): string =>
      origins.length === 1
        ? `Sends requests to ${origins[0]?.host}`
        : `Distributes requests over ${plural(origins.length, 'server', 'servers')}`,
    error_page: ({ status_codes: codes }: Schemas['ErrorPageRule']) =>
      `Shows your own page for ${firstOf(codes.map(String))}`,
  },
  /** Which requests a rule applies to. */
  scope: {
    everywhere: 'Whole domain',
    hosts: (names: readonly string[]) => firstOf(names),
    record: (id: number) => `record ${id}`,
    host: {
      exact: (pattern: string) => `Host ${pattern}`,
      wildcard: (pattern: string) => `Hosts like ${pattern}`,
      regex: (pattern: string) => `Hosts that match the expression ${pattern}`,
    },
    allPaths: 'All paths',
    paths: {
      wildcard: (patterns: readonly string[]) => `Paths ${firstOf(patterns)}`,
      regex: (patterns: readonly string[]) => `Paths that match the expression ${firstOf(patterns)}`,
    },
    except: (patterns: readonly string[]) => `Except ${firstOf(patterns)}`,
  },
  test: {
    title: 'Test a URL',
    hint: 'Shows which rules apply to a request. Nothing is sent to your server.',
    url: 'URL or path',
    country: 'Country of the visitor',
    countryHint: 'A code such as DE. Leave empty if unknown.',
    agent: 'User-Agent',
    agentHint: 'Leave empty if unknown.',
    fingerprint: 'TLS fingerprint',
    fingerprintHint: 'JA3 or JA4. Leave empty if unknown.',
    run: 'Test',
    close: 'Close the result',
    problems: {
      url: 'Enter a URL such as https://www.example.com/path, or a path that begins with /.',
      long: 'Enter at most 2,048 characters.',
      country: 'Enter a country code with two letters.',
    },
    foreign: (host: string, domain: string) =>
      `${host} is not a name of ${domain}. Enter a URL of this domain.`,
    result: (url: string) => `Result for ${url}`,
    steps: 'Rules in the order in which they are applied',
    misses: (count: number) => plural(count, 'rule does not apply', 'rules do not apply'),
    outcomes: {
      acts: 'applies',
      unsure: 'may apply',
      log: 'log only',
      miss: 'does not apply',
    },
    why: {
      off: 'The rule is turned off.',
      record: 'The rule is for other names.',
      host: 'The host does not match.',
      path: 'The path does not match.',
      excluded: 'The path is excluded.',
      country: 'The country does not match.',
      agent: 'The User-Agent does not match.',
      fingerprint: 'The fingerprint does not match.',
      earlier: 'An earlier rule of this type applies.',
      exempt: 'A bot rule exempts the visitor from captchas.',
    },
    unsure: {
      country: 'Depends on the country of the visitor. Enter one above.',
      agent: 'Depends on the User-Agent. Enter one above.',
      fingerprint: 'Depends on the TLS fingerprint. Enter one above.',
      bots: 'Only an edge can recognize verified bots.',
    },
    log: 'The match is written to the log, and the request continues.',
    limits: 'Only the edge knows the number of earlier requests.',
    scores: 'Only the edge can calculate the score.',
    solves: 'The request continues after the visitor has solved the captcha.',
    located: (status: number, location: string) => `Redirects with ${status} to ${location}`,
    rewritten: (path: string) => `Requests ${path} from your server`,
    pages: (codes: readonly number[]) =>
      `Shows your own page if the response is ${firstOf(codes.map(String))}`,
    developing: 'Developer mode is on, so the cache is not used.',
    recordCaptcha: (name: string) => `The record ${name} requires a captcha.`,
    ends: {
      none: (host: string) => `No rule applies: ${host} has no record.`,
      direct: (host: string) =>
        `No rule applies: ${host} is not proxied, so its traffic does not pass through our edges.`,
      suspended: 'The domain is suspended: edges reject all requests with 403.',
      badPath: 'Edges reject this path with 400 before they apply rules.',
      blocked: (id: number) => `Rule ${id} blocks the request with 403.`,
      redirected: (status: number, location: string) =>
        `The visitor is redirected with ${status} to ${location}.`,
      record: (path: string, name: string) => `${path} is requested from your server (record ${name}).`,
      rule: (path: string, id: number) => `${path} is requested from the server of rule ${id}.`,
    },
    unless: (ids: readonly number[]): string =>
      ids.length === 1
        ? `Rule ${ids[0]} may change this result.`
        : `Rules ${listed(ids.map(String))} may change this result.`,
    toRecords: 'Open the records',
  },
  unsupported: (edges: number, why: string) =>
    `${plural(edges, 'edge does', 'edges do')} not support it: ${why}`,
  all: 'All details',
  newTitle: (type: string) => `New rule: ${type}`,
  editTitle: (id: number) => `Rule ${id}`,
  saved: 'The rule was saved.',
  deleted: (id: number) => `Rule ${id} was deleted.`,
  deleteTitle: (id: number) => `Delete rule ${id}?`,
  deleteText: 'It stops applying immediately. You can revert this in the history.',
  json: 'The rule as JSON',
  jsonHint:
    'In a new rule, omitted fields have their default values. In an existing rule, they do not change. Error messages name the wrong field.',
  noJson: 'This is not a JSON object.',
  asJson: 'Edit as JSON',
  asFields: 'Back to the fields',
  more: 'More options: hosts, path matching, priority',
  preview: 'Preview',
  previewText: 'The console blocks scripts and styles, so the preview shows the page without them.',
  origins: {
    title: 'Servers',
    one: (place: number) => `Server ${place}`,
    host: 'Name or address',
    scheme: 'Protocol',
    port: 'Port',
    weight: 'Weight',
    backup: 'Only if the others are down',
    remove: 'Remove',
    removeOf: (place: number) => `Remove server ${place}`,
    add: 'Add a server',
  },
  /** Label and hint by field, or by type and field if a type needs its own. */
  fields: {
    target: ['Target', 'An address such as https://www.example.com/, or a path.'],
    status_code: ['Status code', 'Browsers cache permanent redirects.'],
    preserve_query: ['Keep the query (the part after ?)', undefined],
    preserve_path: ['Keep the path', undefined],
    country_match_type: ['Countries', undefined],
    countries: ['Country codes', 'Example: DE, FR. Leave empty for all countries.'],
    requests: ['Requests', 'Number of requests allowed in the period.'],
    period_seconds: ['Period in seconds', undefined],
    key: ['Counted per', undefined],
    header: ['Header', 'Name of the header, in lowercase.'],
    action: ['Action', undefined],
    'rate_limit action': ['Action above the limit', undefined],
    block_seconds: ['Block duration in seconds', undefined],
    bots: ['Which bots', 'Large search engines can be verified.'],
    list: ['Parts of their names', 'One per line, as in the User-Agent header. Case does not matter.'],
    'bot_route destination': ['Server', 'A name or an address, without https://.'],
    destination: ['Server', 'A name or an address, without https://.'],
    fingerprints: ['Fingerprints', 'JA3 or JA4, separated by spaces.'],
    paranoia: ['Strictness', 'Stricter rules find more attacks but also block more legitimate requests.'],
    threshold: [
      'Block from a score of',
      'Each suspicious part adds to the score. A lower limit blocks more.',
    ],
    body_cap_kb: ['Kilobytes of the request body to inspect', 'Enter 0 to inspect no body.'],
    rule_excludes: ['Excluded rules', 'Their numbers in the core rule set, separated by spaces.'],
    mode: ['Kind', undefined],
    valid_seconds: ['Valid for this many seconds', undefined],
    path_target: ['New path', 'With regular expressions, $1 is the text that the first group matched.'],
    query_mode: ['Query (the part after ?)', undefined],
    query_target: ['New query', 'Without the leading ?.'],
    bypass: ['Do not cache; always fetch from your server', undefined],
    ttl_seconds: ['Edge cache lifetime in seconds', '3600 is one hour.'],
    browser_ttl_seconds: ['Browser cache lifetime in seconds', 'Leave empty to keep your server’s setting.'],
    respect_origin: ['Your server’s Cache-Control takes precedence', undefined],
    key_query: ['Query parameters in the cache key', undefined],
    key_query_list: ['These parameters', 'One per line.'],
    key_headers: ['Headers in the cache key', 'Their names in lowercase, separated by spaces.'],
    scheme: ['Protocol', undefined],
    port: ['Port', undefined],
    host_header: ['Host header', 'Leave empty to keep the visitor’s Host header.'],
    method: ['Load balancing', undefined],
    health: ['Check each server regularly', undefined],
    'health.path': ['Path to check', undefined],
    'health.status': ['Expected status', undefined],
    'health.interval_seconds': ['Interval in seconds', undefined],
    status_codes: ['For these errors', 'Example: 404 502 503.'],
    content_type: ['Content type', undefined],
    html: ['Page content', 'At most 256 KiB.'],
    path_includes: ['Apply to these paths', 'One per line. * matches anything.'],
    path_excludes: ['Except these paths', 'One per line.'],
    path_match_type: ['Path matching', undefined],
    host_match_type: ['Host matching', undefined],
    host_pattern: ['Host', 'In lowercase.'],
    priority: ['Priority', 'Rules with a lower number are applied first.'],
    action_mode: ['On a match', undefined],
  } as Readonly<Record<string, readonly [string, string | undefined]>>,
  choices: {
    '301': '301, permanent',
    '302': '302, temporary',
    '307': '307, temporary, same method',
    '308': '308, permanent, same method',
    include: 'from these countries',
    exclude: 'from all countries except these',
    ip: 'address',
    ip_path: 'address and path',
    header: 'header value',
    block: 'block',
    captcha: 'require a captcha',
    delay: 'slow down',
    allow: 'allow',
    route: 'send to another server',
    unverified: 'unverified bots',
    verified: 'verified bots',
    'bots list': 'bots with these names',
    'paranoia 1': '1, few false positives',
    'paranoia 2': '2',
    'paranoia 3': '3',
    'paranoia 4': '4, many false positives',
    js: 'automatic, in the browser',
    image: 'image to solve',
    preserve: 'as the visitor sent it',
    strip: 'remove it',
    replace: 'replace it',
    all: 'all',
    none: 'none',
    'key_query list': 'some parameters',
    https: 'https',
    http: 'http',
    auto: 'automatic',
    default: 'same as the visitor',
    round_robin: 'in turn, by weight',
    hash: 'always the same server for a visitor',
    least_time: 'the server that responds fastest',
    'text/html': 'a page (HTML)',
    'text/plain': 'plain text',
    'application/json': 'JSON',
    'path_match_type wildcard': 'literal; * matches anything',
    'path_match_type regex': 'regular expressions',
    'host_match_type ': 'all',
    'host_match_type exact': 'exactly one',
    'host_match_type wildcard': 'literal; * matches anything',
    'host_match_type regex': 'a regular expression',
    enforce: 'apply the rule',
    dry_run: 'only write to the log',
  } as Readonly<Record<string, string>>,
};
