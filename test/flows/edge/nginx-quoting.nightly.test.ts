// Authors of rules cannot write nginx directives: malicious texts remain texts. Verified by a separate parser, by
// nginx, and by a directive that must never act.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printDomain } from '../../../agent/nginx/domain.mjs';
import { quote, Unwritable } from '../../../agent/nginx/quote.mjs';
import type { EdgeConfig } from '../../../src/edge/edge-config.ts';
import { askEdge } from '../../support/edge/ask-edge.ts';
import { configWith, hostileConfig, hostileTexts } from '../../support/edge/nginx/hostile-texts.ts';
import { hasNginx, NGINX, type ServedNginx, serveNginx } from '../../support/edge/nginx/served-nginx.ts';

// Parses an nginx configuration like nginx (ngx_conf_read_token), independently of the code that wrote it.

interface Directive {
  readonly words: readonly string[];
  /** Undefined if it ends with ";". */
  readonly block: readonly Directive[] | undefined;
}

function parseNginx(text: string): readonly Directive[] {
  let at = 0;

  function readBlock(isInner: boolean): readonly Directive[] {
    const directives: Directive[] = [];
    let words: string[] = [];
    for (;;) {
      skip();
      const character = text[at];
      if (character === undefined) {
        if (isInner || words.length > 0) throw new Error('the file ends too early');
        return directives;
      }
      if (character === '}') {
        if (!isInner || words.length > 0) throw new Error('a "}" too many');
        at++;
        return directives;
      }
      if (character === ';') {
        at++;
        if (words.length === 0) throw new Error('a ";" too many');
        directives.push({ words, block: undefined });
        words = [];
      } else if (character === '{') {
        at++;
        if (words.length === 0) throw new Error('a "{" too many');
        directives.push({ words, block: readBlock(true) });
        words = [];
      } else words.push(readWord());
    }
  }

  function skip(): void {
    for (;;) {
      const character = text[at] ?? '';
      if (/^[ \t\r\n]$/.test(character)) at++;
      else if (character === '#') {
        const end = text.indexOf('\n', at);
        at = end < 0 ? text.length : end;
      } else return;
    }
  }

  function readWord(): string {
    const quote = text[at];
    return quote === '"' || quote === "'" ? readQuoted(quote) : readPlain();
  }

  function readQuoted(quote: string): string {
    let word = '';
    for (at++; text[at] !== quote; at++) {
      const character = text[at];
      if (character === undefined) throw new Error('unterminated quote');
      word += character === '\\' ? readEscape() : character;
    }
    at++;
    if (!/^[ \t\r\n;{)]$/.test(text[at] ?? '')) throw new Error('unexpected text after a quote');
    return word;
  }

  function readEscape(): string {
    const next = text[++at] ?? '';
    if (['"', "'", '\\'].includes(next)) return next;
    return { t: '\t', r: '\r', n: '\n' }[next] ?? `\\${next}`;
  }

  function readPlain(): string {
    let word = '';
    for (;;) {
      const character = text[at] ?? '';
      if (character === '{' && word.endsWith('$')) word += character;
      else if (/^[ \t\r\n;{]?$/.test(character)) return word;
      else if (character === '\\') {
        word += character + (text[++at] ?? '');
      } else word += character;
      at++;
    }
  }

  return readBlock(false);
}

/** Returns all directives, including nested ones. Entries of maps and similar blocks are not directives. */
function everyDirective(directives: readonly Directive[]): readonly Directive[] {
  return directives.flatMap((directive) => [
    directive,
    ...(directive.block === undefined || hasEntries(directive) ? [] : everyDirective(directive.block)),
  ]);
}

function hasEntries({ words }: Directive): boolean {
  return ['map', 'geo', 'split_clients', 'types'].includes(words[0] ?? '');
}

/** Everything that the agent ever writes for a domain. */
const OURS = new Set(
  `map upstream limit_req_zone proxy_cache_path split_clients server listen server_name ssl_certificate
  ssl_certificate_key ssl_reject_handshake return if set default_type location limit_req limit_req_status root try_files
  modsecurity modsecurity_rules_file modsecurity_rules modsecurity_transaction_id hash rewrite proxy_pass proxy_http_version
  proxy_ssl_server_name proxy_ssl_name proxy_set_header proxy_connect_timeout proxy_send_timeout proxy_read_timeout
  proxy_next_upstream_timeout proxy_ignore_headers proxy_cache proxy_cache_key proxy_cache_valid proxy_cache_lock
  proxy_cache_bypass proxy_no_cache proxy_hide_header proxy_pass_header add_header proxy_intercept_errors error_page internal
  alias types charset charset_types`.split(/\s+/),
);
const VARIABLES =
  /\$(?:\{(?:zf_\w+|host|args|request_id|binary_remote_addr|http_\w+|arg_[a-z0-9_]+|scheme)\}|(?:zf_\w+|host|uri|scheme|args|remote_addr|request_id|request_method|http_\w+|upstream_cache_status)\b|[1-9])/g;

/** Returns faults of a file, found without the agent's code. */
function faultsOf(text: string): string[] {
  const faults: string[] = [];
  for (const { words, block } of everyDirective(parseNginx(text))) {
    const [name = ''] = words;
    if (!OURS.has(name)) faults.push(`directive ${name}`);
    if (name === 'return' && words[1] === '299') faults.push('return 299');
    const values = hasEntries({ words, block })
      ? (block as readonly Directive[]).flatMap((entry) => entry.words)
      : words;
    for (const value of values) {
      if (
        value
          .replaceAll(VARIABLES, '')
          .replace(/ \(\.\*\)\$$/, '')
          .includes('$')
      )
        faults.push(`a variable in ${value}`);
    }
    if (name === 'map')
      for (const entry of block ?? [])
        if (entry.words.length !== 2) faults.push(`entry ${entry.words.join(' ')}`);
  }
  return faults;
}

describe('quoting', () => {
  it('preserves every text, as nginx reads it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        let word: string;
        try {
          word = quote(text);
        } catch (error) {
          expect(error).toBeInstanceOf(Unwritable);
          return;
        }
        const [directive, ...rest] = parseNginx(`x ${word};`);
        expect(rest).toEqual([]);
        expect(directive?.words.slice(1).map((each) => each.replaceAll('\u0024{zf_dollar}', '$'))).toEqual([
          text,
        ]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('rejects what cannot be written on one line', () => {
    for (const text of [
      '\0',
      'a\nb',
      '\r',
      '\u0085',
      '\u2028',
      '\ud800',
      'x'.repeat(4_000),
      '$'.repeat(400),
    ]) {
      expect(() => quote(text)).toThrow(Unwritable);
    }
  });
});

describe.skipIf(!hasNginx)('malicious rules', () => {
  let nginx: ServedNginx;

  beforeAll(async () => {
    nginx = await serveNginx();
  });
  afterAll(async () => await nginx?.stop());

  const factsOf = () => ({
    listen: { http: ['127.0.0.1:80'], https: ['127.0.0.1:443'] },
    folders: { empty: '/e', pages: '/p', cache: '/c' },
    hasCountries: true,
    waf: { file: '/w', ids: new Set(['942100']) },
    rateZone: '1m',
    cacheZone: '1m',
    certificateOf: () => undefined,
    innerDomains: () => [],
    hasOuterDomain: () => true,
    now: new Date(),
    addressesOf: (name: string) => (name === '127.0.0.1' ? [name] : []),
    speaksTls: () => false,
  });
  const print = (config: EdgeConfig) => {
    try {
      return printDomain(config, factsOf()).text;
    } catch (error) {
      expect(error).toBeInstanceOf(Unwritable);
      return '';
    }
  };

  it.each(
    hostileTexts.map((text) => JSON.stringify(text).slice(0, 60)).map((name, i) => [name, i] as const),
  )('%s', (_, i) => {
    const text = print(configWith(1, 'shop.example', hostileTexts[i] as string));
    expect(text).toContain('www.shop.example');
    expect(faultsOf(text)).toEqual([]);
  });

  it('remain texts, in any field', () => {
    fc.assert(
      fc.property(hostileConfig, (make) => {
        expect(faultsOf(print(make(1, 'shop.example')))).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  it('are accepted by nginx, add nothing to its configuration, and never act', async () => {
    const byHand = hostileTexts.map((text, i) => configWith(i + 1, `hand${i}.example`, text));
    const drawn = fc.sample(hostileConfig, 60).map((make, i) => make(1_000 + i, `drawn${i}.example`));
    const configs = [...byHand, ...drawn];
    const { refused } = await nginx.take(...configs);
    expect([...refused]).toEqual([]);
    const whole = execFileSync(NGINX, ['-p', nginx.state, '-c', `${nginx.state}/nginx.conf`, '-T'], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const files = whole.split(/^# configuration file (.*):$/m).slice(1);
    const dumped = new Map(
      files.flatMap((name, i) => (i % 2 === 0 ? [[name, files[i + 1] ?? ''] as const] : [])),
    );
    const domains = join(nginx.state, 'domains');
    expect(readdirSync(domains)).toHaveLength(configs.length);
    for (const name of readdirSync(domains)) {
      const text = dumped.get(join(domains, name));
      expect(text?.trim()).toBe(readFileSync(join(domains, name), 'utf8').trim());
      expect(faultsOf(text ?? '')).toEqual([]);
    }
    for (const { domain } of configs)
      expect((await askEdge(nginx, `http://www.${domain}/canary`)).status).not.toBe(299);
    expect((await askEdge(nginx, 'http://nobody.example/canary')).status).toBe(421);
  });
});
