// A rule as an edge is told it: which requests it matches, and what it does to them. Only enabled rules are told.

export interface RuleMatch {
  readonly id: number;
  readonly priority: number;
  /** `dry_run`: it matches and is reported, the request goes on unchanged. */
  readonly action_mode: 'enforce' | 'dry_run';
  /** The proxied names that it applies to, as in `EdgeHost.host`; absent: all of the domain. */
  readonly hosts?: readonly string[];
  /** A filter of hosts beside `hosts`. In a wildcard `*` stands for any labels; a regular expression matches anywhere (RE2 syntax). */
  readonly host?: { readonly type: 'exact' | 'wildcard' | 'regex'; readonly pattern: string };
  /** A wildcard is matched with the whole path and by case, `*` is any run of characters; a regular expression matches anywhere. */
  readonly path: {
    readonly type: 'wildcard' | 'regex';
    readonly includes: readonly string[];
    readonly excludes: readonly string[];
  };
  /**
   * A regular expression of the rule needs an engine whose time is linear, as RE2's: one that backtracks may take for ever over
   * it, or reads it otherwise. An edge with such an engine reports the rule as unsupported.
   */
  readonly needs_linear_engine?: true;
}

interface PoolOrigin {
  readonly host: string;
  readonly port: number;
  readonly scheme: 'http' | 'https';
  readonly weight: number;
  /** Asked only when no other origin answers. */
  readonly backup: boolean;
}

export type EdgeRule = RuleMatch &
  (
    | {
        readonly type: 'drop';
        readonly country_match_type: 'include' | 'exclude';
        /** Empty: no filter by country, every matching request is dropped. */
        readonly countries: readonly string[];
      }
    | {
        readonly type: 'rate_limit';
        readonly requests: number;
        readonly period_seconds: number;
        readonly key: 'ip' | 'ip_path' | 'header';
        readonly header?: string;
        readonly action: 'block' | 'captcha' | 'delay';
        readonly block_seconds: number;
      }
    | {
        readonly type: 'bot_route';
        readonly bots: 'verified' | 'unverified' | 'list';
        /** Parts of User-Agent, compared without case. */
        readonly list: readonly string[];
        readonly action: 'allow' | 'block' | 'captcha' | 'route';
        readonly destination?: string;
      }
    | {
        readonly type: 'fingerprint';
        readonly fingerprints: readonly string[];
        readonly action: 'block' | 'captcha' | 'allow';
      }
    | {
        readonly type: 'waf';
        readonly paranoia: number;
        readonly threshold: number;
        readonly body_cap_kb: number;
        readonly rule_excludes: readonly string[];
      }
    | { readonly type: 'captcha'; readonly mode: 'js' | 'image'; readonly valid_seconds: number }
    | {
        readonly type: 'redirect';
        readonly target: string;
        readonly status_code: 301 | 302 | 307 | 308;
        readonly preserve_query: boolean;
        /** The path of the request is put behind the target. */
        readonly preserve_path: boolean;
      }
    | {
        readonly type: 'rewrite';
        /** `$1`…`$9`: groups of the first include that matches, when that is a regular expression. */
        readonly path_target: string;
        readonly query_mode: 'preserve' | 'replace' | 'strip';
        readonly query_target: string;
      }
    | {
        readonly type: 'cache';
        readonly ttl_seconds: number;
        readonly browser_ttl_seconds?: number;
        readonly key_query: 'all' | 'none' | 'list';
        readonly key_query_list: readonly string[];
        readonly key_headers: readonly string[];
        readonly bypass: boolean;
        /** Cache-Control of the origin counts before `ttl_seconds`. */
        readonly respect_origin: boolean;
      }
    | {
        readonly type: 'origin_route';
        readonly destination: string;
        readonly port: number;
        readonly scheme: 'http' | 'https' | 'auto' | 'default';
        readonly host_header?: string;
      }
    | {
        readonly type: 'origin_pool';
        readonly origins: readonly PoolOrigin[];
        readonly method: 'round_robin' | 'hash' | 'least_time';
        readonly health?: {
          readonly path: string;
          readonly status: number;
          readonly interval_seconds: number;
        };
      }
    | {
        readonly type: 'error_page';
        readonly status_codes: readonly number[];
        readonly html: string;
        readonly content_type: 'text/html' | 'text/plain' | 'application/json';
      }
  );

export type RuleType = EdgeRule['type'];
