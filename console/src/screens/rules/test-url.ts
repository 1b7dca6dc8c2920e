// Simulates how an edge applies the rules of a domain to one request (docs/edge.md, "Rules").

import { type FindRegex, type Miss, matchRule, type Rule, type Unsure, type Visit } from './match-rule.ts';
import { locationOf, rewrittenPath } from './new-address.ts';
import type { TestedUrl } from './read-url.ts';
import { countsDryRun, TYPES } from './rule-fields.ts';

type Detail =
  | { readonly kind: 'summary'; readonly note?: 'limits' | 'scores' | 'solves' | 'developing' }
  | { readonly kind: 'located'; readonly status: number; readonly location: string }
  | { readonly kind: 'rewritten'; readonly path: string }
  | { readonly kind: 'pages'; readonly codes: readonly number[] };

type Outcome =
  | { readonly kind: 'acts'; readonly detail: Detail }
  | { readonly kind: 'log' }
  | { readonly kind: 'unsure'; readonly why: Unsure }
  | { readonly kind: 'miss'; readonly why: Miss };

export interface Step {
  readonly rule: Rule;
  readonly outcome: Outcome;
}

type End =
  | { readonly kind: 'suspended' | 'badPath' }
  | { readonly kind: 'blocked'; readonly id: number }
  | { readonly kind: 'redirected'; readonly status: number; readonly location: string }
  | { readonly kind: 'record'; readonly path: string }
  | { readonly kind: 'rule'; readonly path: string; readonly id: number };

export interface Result {
  /** Rules of all types, up to the one that ends the request. */
  readonly steps: readonly Step[];
  readonly end: End;
  /** Rules whose effect only an edge can decide, and which may change the result. */
  readonly unless: readonly number[];
  /** True if a bot rule exempts the visitor from captchas. */
  readonly isExempt: boolean;
}

export interface Tested {
  /** Rules of the same type are in the order of evaluation. */
  readonly rules: readonly Rule[];
  readonly url: TestedUrl;
  readonly visit: Omit<Visit, 'host' | 'path'>;
  readonly isSuspended: boolean;
  readonly isDeveloping: boolean;
}

export function testUrl({ rules, url, visit, ...domain }: Tested, find: FindRegex): Result {
  const { host, path } = url;
  if (domain.isSuspended) return { steps: [], end: { kind: 'suspended' }, unless: [], isExempt: false };
  if (path === undefined) return { steps: [], end: { kind: 'badPath' }, unless: [], isExempt: false };
  const run = new Run(url, domain.isDeveloping);
  for (const type of TYPES) {
    for (const rule of rules) {
      if (rule.type !== type) continue;
      run.apply(rule, matchRule(rule, { ...visit, host, path }, find));
      if (run.end !== undefined) return run.result(run.end);
    }
  }
  return run.result(run.originEnd());
}

/** Applies rules to one request, and collects their outcomes. */
class Run {
  end: End | undefined;
  readonly #url: TestedUrl;
  readonly #isDeveloping: boolean;
  readonly #steps: Step[] = [];
  readonly #unless: number[] = [];
  /** The rules that decided their type. */
  readonly #first = new Map<string, Rule>();
  readonly #codes = new Set<number>();
  #path: string;

  constructor(url: TestedUrl, isDeveloping: boolean) {
    this.#url = url;
    this.#isDeveloping = isDeveloping;
    this.#path = url.rawPath + (url.query === '' ? '' : `?${url.query}`);
  }

  apply(rule: Rule, verdict: ReturnType<typeof matchRule>): void {
    const outcome = this.#outcomeOf(rule, verdict);
    this.#steps.push({ rule, outcome });
    const isLogged = countsDryRun(rule.type) && rule.action_mode === 'dry_run';
    const isCounted = outcome.kind === 'acts' && (rule.type === 'rate_limit' || rule.type === 'waf');
    if (!isLogged && (outcome.kind === 'unsure' || isCounted)) this.#unless.push(rule.id);
  }

  #outcomeOf(rule: Rule, verdict: ReturnType<typeof matchRule>): Outcome {
    if (verdict.kind === 'miss') return verdict;
    // Every matching rate limit counts, and each error page is for its own statuses.
    const isOne = rule.type !== 'rate_limit' && rule.type !== 'error_page';
    if (isOne && this.#first.has(rule.type)) return { kind: 'miss', why: 'earlier' };
    if (rule.type === 'captcha' && this.#isExempt()) return { kind: 'miss', why: 'exempt' };
    if (verdict.kind === 'unsure') return verdict;
    if (countsDryRun(rule.type) && rule.action_mode === 'dry_run') return { kind: 'log' };
    const codes =
      rule.type === 'error_page' ? rule.status_codes.filter((code) => !this.#codes.has(code)) : [];
    if (rule.type === 'error_page' && codes.length === 0) return { kind: 'miss', why: 'earlier' };
    this.#first.set(rule.type, rule);
    return { kind: 'acts', detail: this.#act(rule, verdict.groups, codes) };
  }

  #act(rule: Rule, groups: readonly string[], codes: readonly number[]): Detail {
    switch (rule.type) {
      case 'drop':
        this.end = { kind: 'blocked', id: rule.id };
        break;
      case 'rate_limit':
        return { kind: 'summary', note: 'limits' };
      case 'bot_route':
      case 'fingerprint':
        if (rule.action === 'block') this.end = { kind: 'blocked', id: rule.id };
        if (rule.action === 'captcha') return { kind: 'summary', note: 'solves' };
        break;
      case 'waf':
        return { kind: 'summary', note: 'scores' };
      case 'captcha':
        return { kind: 'summary', note: 'solves' };
      case 'redirect': {
        const moved = { status: rule.status_code, location: locationOf(rule, this.#url) };
        this.end = { kind: 'redirected', ...moved };
        return { kind: 'located', ...moved };
      }
      case 'rewrite':
        this.#path = rewrittenPath(rule, groups, this.#url);
        return { kind: 'rewritten', path: this.#path };
      case 'cache':
        return { kind: 'summary', ...(this.#isDeveloping && { note: 'developing' as const }) };
      case 'error_page':
        for (const code of codes) this.#codes.add(code);
        return { kind: 'pages', codes };
      default:
        break;
    }
    return { kind: 'summary' };
  }

  #isExempt(): boolean {
    const bots = this.#first.get('bot_route');
    return bots?.type === 'bot_route' && bots.action === 'allow';
  }

  /** A pool takes precedence over a route, and a route over the server for bots. */
  originEnd(): End {
    const bots = this.#first.get('bot_route');
    const routed = bots?.type === 'bot_route' && bots.action === 'route' ? bots : undefined;
    const rule = this.#first.get('origin_pool') ?? this.#first.get('origin_route') ?? routed;
    const path = this.#path;
    return rule === undefined ? { kind: 'record', path } : { kind: 'rule', path, id: rule.id };
  }

  result(end: End): Result {
    return { steps: this.#steps, end, unless: this.#unless, isExempt: this.#isExempt() };
  }
}
