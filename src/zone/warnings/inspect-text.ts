// Finds text in a zone file whose meaning according to RFC 1035 is probably not what its author intended.

import { foldCase, isWithin, type Name, parseName, printName } from '../../dns/name.ts';
import type { Token } from '../../dns/record/token.ts';
import { TYPE, typeMnemonic } from '../../dns/type-codes.ts';
import { hostWordOf } from '../../dns/zone-file/host-word.ts';
import type { ReadLine } from '../../dns/zone-file/zone-file.ts';
import { isBelowPublicSuffix } from '../domain/public-suffix.ts';
import { ANAME_CODE } from '../records/customer-types.ts';
import type { ZoneView } from './zone-view.ts';
import { type WarningCode, WarningList, type ZoneWarning } from './zone-warning.ts';

/** Policies that are useless without the text after their first `;`. */
const CUT_POLICY = /^v=(?:DMARC1|DKIM1|STSv1|TLSRPTv1|BIMI1)$/i;
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f.]*:[0-9a-f:.]+)\.?$/i;
const BLANK = /\\032|\\ /;
const OCTAL = /(?:^|\.)\\(052|100)(?=\.|$)/;

/** A relative name that may be intended as a full one. */
interface Doubt {
  readonly of: 'origin' | 'owner' | 'host';
  readonly read: Name;
  readonly full: Name;
  readonly warning: ZoneWarning;
}

/** Doubts are kept until the zone is known. A file with more probably has enough warnings. */
const MAX_DOUBTS = 20_000;

export class TextInspector {
  readonly #warnings = new WarningList();
  readonly #doubts: Doubt[] = [];
  /** The last inspected $ORIGIN. */
  #origin: Token | undefined;

  /** Inspects one record. Must be called for each record. */
  readonly inspect = (line: ReadLine): void => {
    this.#inspectOrigin(line);
    if (line.owner !== undefined) this.#inspectOwner(line, line.owner);
    const { type, words, comment } = line;
    const at = hostWordOf(type);
    const host = at === undefined ? undefined : words[at];
    if (host !== undefined && !host.quoted) this.#inspectHost(line, host);
    if (type === TYPE.TXT) this.#inspectText(line);
    if (comment !== undefined && /^\s*AWS routing=/.test(comment)) {
      const message = `weights and countries of Route 53 are lost: every address of ${printName(line.record.owner)} is answered`;
      this.#warn(line, 'ROUTING_LOST', message);
    }
  };

  /** Returns the warnings. Must be called at the end, when the zone is known. */
  finish({ apex, hasRecords }: Pick<ZoneView, 'apex' | 'hasRecords'>): ZoneWarning[] {
    for (const { of, read, full, warning } of this.#doubts) {
      const isOwn = isWithin(full, apex);
      // a host that exists as written is correct
      const isDoubtful = of !== 'host' ? isOwn : (isOwn || isBelowPublicSuffix(full)) && !hasRecords(read);
      if (isDoubtful) this.#warnings.add(warning);
    }
    return this.#warnings.list;
  }

  /** Warns at the first record after the $ORIGIN. */
  #inspectOrigin(line: ReadLine): void {
    const { origin, originWord } = line;
    if (originWord === undefined || originWord === this.#origin) return;
    this.#origin = originWord;
    if (origin !== undefined) this.#doubt(line, 'origin', originWord.text, origin);
  }

  #inspectOwner(line: ReadLine, { text }: Token): void {
    const octal = explainOctal(text);
    if (octal !== undefined) this.#warn(line, 'OCTAL_ESCAPE', octal);
    if (/(?:^|\.)@(?:\.|$)/.test(text) && text !== '@') {
      this.#warn(
        line,
        'AT_SIGN_IN_NAME',
        `"${text}" has "@" as a label: inside a name it does not stand for the domain`,
      );
    }
    this.#doubt(line, 'owner', text);
  }

  #inspectHost(line: ReadLine, { text }: Token): void {
    const octal = explainOctal(text);
    if (ADDRESS.test(text)) {
      this.#warn(line, 'TARGET_IS_ADDRESS', `"${text}" is an address; a host name is required here`);
    } else if (text.includes('://')) {
      this.#warn(line, 'TARGET_IS_URL', `"${text}" is a URL; a host name is required here`);
    } else if (BLANK.test(text)) {
      this.#warn(line, 'TARGET_HAS_BLANKS', `"${text}" contains spaces; a host name is required here`);
    } else if (octal !== undefined) {
      this.#warn(line, 'OCTAL_ESCAPE', octal);
    } else if (/[^.\\]@/.test(text)) {
      this.#warn(line, 'AT_SIGN_IN_NAME', `"${text}" is a mail address; a host name is required here`);
    } else {
      this.#doubt(line, 'host', text);
    }
  }

  #doubt(line: ReadLine, of: Doubt['of'], text: string, as?: Name): void {
    if (this.#doubts.length >= MAX_DOUBTS) return;
    const full = fullName(text);
    if (full === undefined || line.origin === undefined) return;
    const read = as ?? parse(text, line.origin);
    if (read === undefined || read === full) return;
    const what = of === 'origin' ? `$ORIGIN ${text}` : `"${text}"`;
    const message = `${what} has no final dot, so it is ${printName(read)}: is ${printName(full)} meant?`;
    const warning = {
      ...warningAt(line, 'MISSING_FINAL_DOT', message),
      ...(of === 'host' && { host: read }),
    };
    this.#doubts.push({ of, read, full, warning });
  }

  /** A `;` begins a comment (RFC 1035 §5.1). */
  #inspectText(line: ReadLine): void {
    const { words, comment } = line;
    const [first] = words;
    if (first === undefined || first.quoted || words.length > 1 || comment === undefined) return;
    if (!CUT_POLICY.test(first.text)) return;
    this.#warn(line, 'POLICY_CUT', `the text ends at ";", so it is only "${first.text}": put it in quotes`);
  }

  #warn(line: ReadLine, code: WarningCode, message: string): void {
    this.#warnings.add(warningAt(line, code, message));
  }
}

/** Returns the message for a name with an octal escape. Returns undefined for other names. */
export function explainOctal(name: string): string | undefined {
  if (!OCTAL.test(name)) return undefined;
  const meant = name.replaceAll('\\052', '*').replaceAll('\\100', '@');
  return `"${name}" has a decimal escape, but Route 53 writes * (\\052) and @ (\\100) in octal: is ${meant} meant?`;
}

function warningAt({ record, type }: ReadLine, code: WarningCode, message: string): ZoneWarning {
  const { owner, line, column, file } = record;
  const shown = record.type === ANAME_CODE ? 'ANAME' : typeMnemonic(type);
  return { code, owner, type: shown, message, line, column, file };
}

/** Returns the name that the text would be with a final dot. Returns undefined if it has one, or is a single label. */
function fullName(text: string): Name | undefined {
  return text.endsWith('.') || !text.includes('.') ? undefined : parse(`${text}.`);
}

function parse(text: string, origin?: Name): Name | undefined {
  try {
    return foldCase(parseName(text, origin));
  } catch {
    return undefined; // too long as a full name
  }
}
