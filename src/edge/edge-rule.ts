// A rule in the edge configuration: the requests that it matches, and what it does to them. Only enabled rules are
// included.

export interface RuleMatch {
  readonly id: number;
  readonly priority: number;
  /** `dry_run`: matches are reported, but the request continues unchanged. */
  readonly action_mode: 'enforce' | 'dry_run';
  /** Proxied names that it applies to, as in `EdgeHost.host`. Absent: the whole domain. */
  readonly hosts?: readonly string[];
  /**
   * A host filter in addition to `hosts`. In a wildcard, `*` matches any labels. A regular expression matches anywhere (RE2
   * syntax).
   */
  readonly host?: { readonly type: 'exact' | 'wildcard' | 'regex'; readonly pattern: string };
  /**
   * A wildcard must match the whole path, case-sensitively, and `*` matches any characters. A regular expression matches
   * anywhere.
   */
  readonly path: {
    readonly type: 'wildcard' | 'regex';
    readonly includes: readonly string[];
    readonly excludes: readonly string[];
  };
  /**
   * True if a regular expression of the rule needs a linear-time engine such as RE2: a backtracking engine may take forever
   * or interpret it differently. An edge with such an engine reports the rule as unsupported.
   */
  readonly needs_linear_engine?: true;
}

interface PoolOrigin {
  readonly host: string;
  readonly port: number;
  readonly scheme: 'http' | 'https';
  readonly weight: number;
  /** Used only if no other origin answers. */
  readonly backup: boolean;
}

export type EdgeRule = RuleMatch &
  (
    | {
        readonly type: 'drop';
        readonly country_match_type: 'include' | 'exclude';
        /** Empty: no country filter, so every matching request is dropped. */
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
        /** Parts of User-Agent, compared case-insensitively. */
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
        /** The request's path is appended to the target. */
        readonly preserve_path: boolean;
      }
    | {
        readonly type: 'rewrite';
        /** `$1`…`$9`: groups of the first matching include, if that is a regular expression. */
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
        /** If true, the origin's Cache-Control takes precedence over `ttl_seconds`. */
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
