// Lists words that docs/contributing.md "Writing" advises against, in the lines that were added since the last commit, or by the
// last commit if nothing has changed. It is a report: it never fails.

import { execFileSync } from 'node:child_process';

/** Each word, and what to write instead. */
const ADVICE = [
  [/\b(is|are|was|were|be|been) told\b/, 'notified, sent, reported, returned'],
  [/\b(is|are|was) (said|asked for)\b/, 'name the actor and use an exact verb'],
  [/\banew\b/, 'again, or a verb with re-'],
  [/\b(whoever|whose is|nobody|somebody)\b/i, 'the account, the client, no client'],
  [/\bno more\b(?! than)/, 'no longer'],
  [/\bby itself\b/, 'automatically'],
  [/\bat once\b/, 'immediately, or concurrently'],
  [/\b(gives?|given|takes?|taken) back\b/, 'release, refund, revert'],
  [/\b(stands|stood)\b/, 'is, is stored, is valid'],
  [/\bis no (?!longer|such)[a-z]/, 'is not a'],
  [/\b(is|are) none of\b/, 'is not'],
  [/\b(errand|mend(s|ed)?|sightings?|awkward)\b/, 'shared query, fix, observation, unusual'],
  [/^\W*(Undefined|Null|None|True|False): /, 'Undefined if …, True if …'],
  [/^\W*(Of|What|Whether|Where|Who) [a-z][^?]*\.$/, 'a sentence with a subject and a verb'],
];
const PROSE = /\.(md|sql|css)$|\.(ts|tsx|mjs)$/;

const since = git('status', '--porcelain').trim() === '' ? ['HEAD~1', 'HEAD'] : ['HEAD'];

let file = '';
let line = 0;
for (const text of git('diff', '--unified=0', ...since).split('\n')) {
  const place = /^@@ -\S+ \+(\d+)/.exec(text);
  if (text.startsWith('+++ ')) file = text.slice('+++ b/'.length);
  else if (place !== null) line = Number(place[1]);
  else if (text.startsWith('+')) report(text.slice(1), line++);
}

function report(text, at) {
  const isProse = file.endsWith('.md') || /(\/\/|\/?\*|--|['"`])/.test(text);
  if (!PROSE.test(file) || !isProse || file.startsWith('test/prose/')) return;
  for (const [word, instead] of ADVICE) {
    const [found] = word.exec(text.replace(/^\s*(\/\/|\/?\*+|--)\s*/, '')) ?? [];
    if (found !== undefined) console.log(`${file}:${at}: "${found.trim()}": ${instead}`);
  }
}

/** Returns nothing outside a git repository, or if the history has no such commit. */
function git(...args) {
  const stdio = ['ignore', 'pipe', 'ignore'];
  try {
    return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28, stdio });
  } catch {
    return '';
  }
}
