// Counts what looks like an attack and refuses a request whose score reaches the threshold. Ids and levels are those of the
// OWASP core rule set, of which this is a very small part.

import type { RuleOf, Visit } from '../proxy/visit.ts';

interface Sign {
  readonly id: string;
  /** From this level on it is looked for. */
  readonly paranoia: 1 | 2 | 3 | 4;
  readonly score: number;
  /** What it is looked for in: what the visitor wrote, or one header. */
  readonly within: 'input' | 'path' | `header:${string}`;
  readonly pattern: RegExp;
}

const CRITICAL = 5;
const WARNING = 3;

const SIGNS: readonly Sign[] = [
  {
    id: '913100',
    paranoia: 1,
    score: CRITICAL,
    within: 'header:user-agent',
    pattern: /sqlmap|nikto|nessus/i,
  },
  { id: '930100', paranoia: 1, score: CRITICAL, within: 'path', pattern: /(^|[/\\])\.\.([/\\]|$)/ },
  {
    id: '932160',
    paranoia: 1,
    score: CRITICAL,
    within: 'input',
    pattern: /\/bin\/(ba)?sh\b|\/etc\/passwd\b/,
  },
  { id: '941110', paranoia: 1, score: CRITICAL, within: 'input', pattern: /<script\b[^>]*>/i },
  { id: '942100', paranoia: 1, score: CRITICAL, within: 'input', pattern: /'\s*or\s+'?\d+'?\s*=\s*'?\d+/i },
  { id: '942190', paranoia: 1, score: CRITICAL, within: 'input', pattern: /\bunion\s+(all\s+)?select\b/i },
  { id: '942430', paranoia: 2, score: WARNING, within: 'input', pattern: /(['"`;()<>=*-].*){12}/s },
  { id: '942432', paranoia: 4, score: WARNING, within: 'input', pattern: /(['"`;()<>=*-].*){2}/s },
  { id: '920300', paranoia: 3, score: 2, within: 'header:accept', pattern: /^$/ },
];

/** The sum of all signs that the request shows at the rule's level, those that it excludes left out. */
export async function scoreRequest(rule: RuleOf<'waf'>, visit: Visit): Promise<number> {
  const body =
    rule.body_cap_kb === 0 ? '' : (await visit.readBody(rule.body_cap_kb * 1_024)).toString('latin1');
  const texts = {
    path: decode(visit.path),
    input: [visit.plainPath, decode(visit.query), isForm(visit) ? decode(body) : body].join('\n'),
  };
  const found = SIGNS.filter(({ id, paranoia, within, pattern }) => {
    if (paranoia > rule.paranoia || rule.rule_excludes.includes(id)) return false;
    const text = within.startsWith('header:')
      ? `${visit.headers[within.slice('header:'.length)] ?? ''}`
      : texts[within as 'path' | 'input'];
    return pattern.test(text);
  });
  return found.reduce((sum, { score }) => sum + score, 0);
}

function isForm({ headers }: Visit): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '');
}

/** What is no percent-encoding stays as it is, so that one wrong octet hides nothing. */
function decode(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replaceAll(/%([0-9a-f]{2})/gi, (_, octet: string) => String.fromCharCode(Number.parseInt(octet, 16)));
}
