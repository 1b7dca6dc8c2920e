// Reads a zone file (RFC 1035 §5, RFC 2308 §4, BIND's $GENERATE) into records, and reports all its problems. Different
// TTLs in one record set are not a problem: all records get the first one's (RFC 2181 §5.2).

import { upperCaseAscii } from '../ascii.ts';
import { foldCase, isWithin, type Name, printName, ROOT } from '../name.ts';
import { parseRdata } from '../record/rdata.ts';
import type { Token } from '../record/token.ts';
import { TYPE, typeCode } from '../type-codes.ts';
import { addDotToHost, addDotToOwner } from './add-dots.ts';
import { alignTtls } from './align-ttls.ts';
import { explainNuls } from './decode-text.ts';
import { RecordGenerator } from './generate-records.ts';
import { inOneGo } from './in-one-go.ts';
import { IncludedFiles } from './included-files.ts';
import { hasWords, type OpenFile, readName } from './open-file.ts';
import { type RecordHead, readRecordHead, readTtl } from './read-record-head.ts';
import { RecordTtls } from './record-ttls.ts';
import type {
  LeftOutRecord,
  LineByLine,
  ReadLine,
  ZoneFile,
  ZoneFileOptions,
  ZoneFileRecord,
} from './zone-file.ts';
import { type ZoneFileEntry, ZoneFileLexer } from './zone-file-lexer.ts';
import { ZoneFileProblems } from './zone-file-problems.ts';

const PIECE_ENTRIES = 1000;

/** Types with which Windows DNS queries WINS servers. All are read with one of their private-use codes. */
const WINS_TYPES: ReadonlySet<string> = new Set(['WINS', 'WINSR', 'WINS-R']);
const WINS_CODE = 65_281;

export function parseZoneFile(text: string, options: ZoneFileOptions = {}): ZoneFile {
  return inOneGo(parseZoneFileInPieces(text, options));
}

/** Does the same in pieces of a few milliseconds, so that the caller can do other work in between. */
export function* parseZoneFileInPieces(
  text: string,
  options: ZoneFileOptions = {},
): Generator<undefined, ZoneFile> {
  const parser = new ZoneFileParser(options);
  const problems = new ZoneFileProblems(options.file, options.lineByLine?.maxProblems);
  yield* parser.readFile(text, {
    file: undefined,
    includedBy: undefined,
    problems,
    origin: options.origin,
    originWord: undefined,
    owner: undefined,
  });
  return parser.finish(problems);
}

class ZoneFileParser {
  readonly #included: IncludedFiles;
  readonly #ttls: RecordTtls;
  readonly #generated = new RecordGenerator((mnemonic) => this.#typeOf(mnemonic));
  readonly #lineByLine: LineByLine | undefined;
  readonly #nameTypes: ReadonlySet<number>;
  readonly #onRecord: ((line: ReadLine) => void) | undefined;
  readonly #addDots: boolean;
  #records: ZoneFileRecord[] = [];
  readonly #leftOut: LeftOutRecord[] = [];
  #rootOriginLine: number | undefined;
  #apex: Name | undefined;
  #soaFailed = false;
  #lastOwner: { text: string; origin: Name | undefined; owner: Name } | undefined;

  constructor(options: ZoneFileOptions) {
    this.#included = new IncludedFiles(options.include);
    this.#apex = options.origin === undefined ? undefined : foldCase(options.origin);
    this.#ttls = new RecordTtls(options);
    this.#lineByLine = options.lineByLine;
    this.#nameTypes = new Set(options.lineByLine?.nameTypes.values());
    this.#onRecord = options.onRecord;
    this.#addDots = options.addDots ?? false;
  }

  *readFile(text: string, open: OpenFile): Generator<undefined, void> {
    const unreadable = explainNuls(text);
    if (unreadable !== undefined) {
      open.problems.add({ line: 1, column: 1 }, unreadable);
      this.#soaFailed = true; // this text may contain it
      return;
    }
    const lexer = new ZoneFileLexer(text, (line, column, message) => {
      open.problems.add({ line, column }, message);
    });
    let read = 0;
    for (let entry = lexer.next(); entry !== undefined; entry = lexer.next()) {
      if (++read % PIECE_ENTRIES === 0) yield;
      const [first] = entry.tokens;
      if (first === undefined) {
        if (!entry.blankStart && this.#lineByLine !== undefined) open.owner = undefined;
      } else if (first.text.startsWith('$') && !first.quoted) this.#readDirective(entry, first, open);
      else this.#readRecord(entry, first, open);
      if (open.problems.areTooMany) return;
      const tooMany = this.#records.length > (this.#lineByLine?.maxRecords ?? Number.POSITIVE_INFINITY);
      if (tooMany && first !== undefined) {
        open.problems.add(first, 'the file has too many records; the rest was not read');
        return;
      }
    }
  }

  finish(problems: ZoneFileProblems): ZoneFile {
    const apex = this.#apex;
    if (apex === undefined) {
      if (!this.#soaFailed) {
        problems.add({ line: 1, column: 1 }, 'there is no SOA record, and no origin was given');
      }
      return this.#zoneFile(ROOT, this.#records, problems);
    }
    const inside: ZoneFileRecord[] = [];
    for (const record of this.#records) {
      if (isWithin(record.owner, apex)) {
        inside.push(record);
      } else if (record.type === TYPE.SOA && this.#lineByLine !== undefined) {
        this.#leaveOut(record, 'SOA', 'the SOA is not in the zone');
      } else {
        const view = record.file === undefined ? problems : problems.in(record.file);
        view.add(record, this.#explainOutside(record, apex), 'owner');
      }
    }
    alignTtls(inside);
    problems.sort();
    return this.#zoneFile(apex, inside, problems);
  }

  #zoneFile(origin: Name, records: ZoneFileRecord[], problems: ZoneFileProblems): ZoneFile {
    const rootOriginLine = this.#rootOriginLine;
    return { origin, records, problems: problems.list, leftOut: this.#leftOut, rootOriginLine };
  }

  #explainOutside({ owner, type }: ZoneFileRecord, apex: Name): string {
    const zone = printName(apex);
    const line = type === TYPE.SOA && owner === ROOT ? this.#rootOriginLine : undefined;
    if (line === undefined) return `${printName(owner)} is not in the zone ${zone}`;
    return `the SOA is at the root (.) because of $ORIGIN . in line ${line}; it must be at ${zone}`;
  }

  #leaveOut(
    { owner, file, line, column }: Omit<LeftOutRecord, 'type' | 'reason'>,
    type: string,
    reason: string,
  ): void {
    this.#leftOut.push({ owner, type, reason, file, line, column });
  }

  #readRecord(entry: ZoneFileEntry, first: Token, open: OpenFile): void {
    const owner = entry.blankStart ? open.owner : this.#readOwner(this.#ownerWord(first), open);
    if (owner !== undefined || this.#lineByLine !== undefined) open.owner = owner;
    if (entry.broken) return;
    if (entry.blankStart && owner === undefined && this.#reportsFollowing(open)) {
      open.problems.add(first, 'the line starts with a blank, but no earlier line has an owner', 'owner');
      if (this.#lineByLine !== undefined) return;
    }
    const head = readRecordHead(entry.tokens, entry.blankStart ? 0 : 1, open.problems, this.#typeOrWins);
    if (head === undefined) return;
    const type = head.type === WINS_CODE ? upperCaseAscii((entry.tokens[head.next - 1] as Token).text) : '';
    if (!WINS_TYPES.has(type)) {
      this.#addRecord(owner, head, entry, open);
    } else if (owner !== undefined) {
      const place = { file: open.file, line: first.line, column: first.column };
      this.#leaveOut({ owner, ...place }, type, 'only Windows DNS has records of this type');
    }
  }

  /** False if the error of a line may only be a consequence of an earlier one. */
  #reportsFollowing(open: OpenFile): boolean {
    return this.#lineByLine !== undefined || open.problems.list.length === 0;
  }

  readonly #typeOf = (mnemonic: string): number | undefined =>
    typeCode(mnemonic) ?? this.#lineByLine?.nameTypes.get(upperCaseAscii(mnemonic));

  readonly #typeOrWins = (mnemonic: string): number | undefined =>
    this.#typeOf(mnemonic) ?? (WINS_TYPES.has(upperCaseAscii(mnemonic)) ? WINS_CODE : undefined);

  #readOwner(token: Token, open: OpenFile): Name | undefined {
    const last = this.#lastOwner;
    if (last?.text === token.text && last.origin === open.origin && !token.quoted) return last.owner;
    const name = open.problems.attempt(token, 'owner', () => readName(token, open.origin));
    if (name === undefined) return undefined;
    const owner = foldCase(name);
    this.#lastOwner = { text: token.text, origin: open.origin, owner };
    return owner;
  }

  /** Returns false after a problem. */
  #addRecord(
    owner: Name | undefined,
    head: RecordHead,
    { tokens, comment, blankStart }: Omit<ZoneFileEntry, 'broken'>,
    open: OpenFile,
  ): boolean {
    const { type } = head;
    const place = tokens[0] as Token;
    const textType = this.#nameTypes.has(type) ? TYPE.CNAME : type;
    const written = tokens.slice(head.next);
    const words = this.#addDots ? addDotToHost(textType, written) : written;
    const rdata = open.problems.attempt(tokens[head.next - 1] as Token, undefined, () =>
      parseRdata(textType, words, open.origin),
    );
    if (type === TYPE.SOA && owner !== undefined) {
      this.#apex ??= owner;
      if (owner === ROOT && open.origin === ROOT) this.#rootOriginLine ??= open.originWord?.line;
    }
    if (owner === undefined || rdata === undefined || head.ttlFailed) {
      if (type === TYPE.SOA) this.#soaFailed = true;
      this.#ttls.pass(head);
      return false;
    }
    const ttl = this.#ttls.ttlOf(head, rdata, place, open);
    if (ttl === undefined) return false;
    const { line, column } = place;
    const behind = this.#lineByLine !== undefined && comment !== undefined ? { comment } : {};
    const record = { owner, type, ttl, rdata, file: open.file, line, column, ...behind };
    this.#records.push(record);
    const ownerToken = blankStart ? undefined : this.#ownerWord(place);
    const { origin, originWord } = open;
    this.#onRecord?.({ record, type: textType, owner: ownerToken, words, comment, origin, originWord });
    return true;
  }

  #ownerWord(token: Token): Token {
    return this.#addDots ? addDotToOwner(token, this.#apex) : token;
  }

  #readDirective({ tokens, blankStart, broken }: ZoneFileEntry, first: Token, open: OpenFile): void {
    const words = tokens.slice(1);
    const directive = blankStart ? '' : first.text.toUpperCase();
    const onlyWord = () => (!broken && hasWords(1, 1, words, first, open) ? words[0] : undefined);
    if (directive === '$ORIGIN') {
      this.#readOrigin(onlyWord(), open);
    } else if (directive === '$TTL') {
      this.#readDefaultTtl(onlyWord(), open);
    } else if (broken) {
      return;
    } else if (directive === '$INCLUDE') {
      if (hasWords(1, 2, words, first, open)) this.#readInclude(words[0] as Token, words[1], open);
    } else if (directive === '$GENERATE') {
      if (hasWords(4, Number.POSITIVE_INFINITY, words, first, open)) this.#generate(words, open);
    } else if (blankStart) {
      open.problems.add(first, `${first.text} must be at the start of its line`);
    } else {
      const message = `${first.text} is not a directive; $ORIGIN, $TTL, $INCLUDE and $GENERATE are`;
      open.problems.add(first, message);
    }
  }

  /** @param word undefined after a problem, as for $TTL */
  #readOrigin(word: Token | undefined, open: OpenFile): void {
    const full = word && this.#ownerWord(word);
    const origin = full && open.problems.attempt(full, 'origin', () => readName(full, open.origin));
    if (origin !== undefined || this.#lineByLine !== undefined) {
      open.origin = origin;
      open.originWord = full;
    }
  }

  #readDefaultTtl(word: Token | undefined, open: OpenFile): void {
    this.#ttls.setDefault(word && open.problems.attempt(word, 'ttl', () => readTtl(word)));
  }

  #readInclude(path: Token, originWord: Token | undefined, open: OpenFile): void {
    const read = open.problems.attempt(path, undefined, () => this.#included.read(path.text, open));
    const origin =
      originWord === undefined
        ? open.origin
        : open.problems.attempt(originWord, 'origin', () => readName(originWord, open.origin));
    if (read === undefined || (originWord !== undefined && origin === undefined)) return;
    const problems = open.problems.in(read.file);
    const included = {
      file: read.file,
      includedBy: open,
      problems,
      origin,
      originWord: undefined,
      owner: open.owner,
    };
    inOneGo(this.readFile(read.text, included));
  }

  #generate(words: readonly Token[], open: OpenFile): void {
    for (const { head, words: made } of this.#generated.generate(words, open)) {
      const owner = this.#readOwner(made[0], open);
      if (owner === undefined) return;
      const entry = { tokens: made, comment: undefined, blankStart: false };
      if (!this.#addRecord(owner, head, entry, open)) return; // reports only the first record that fails
    }
  }
}
