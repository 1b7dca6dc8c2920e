// A zone of our signer that is edited at random, and what validators have to say of questions near an edit, as the records
// without signatures tell it.

import { type Name, parentOf, parseName, prependLabel, wildcardBelow } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { ZoneChanges } from '../../../src/zone/image/edit-zone.ts';
import type { DenialKind } from '../../../src/zone/signing/signed-types.ts';
import type { Zone, ZoneRecord } from '../../../src/zone/zone.ts';
import { dsLines } from '../dnssec/sign-as-ours.ts';
import { PLAIN_LABELS, WantedZone } from '../dnssec/signed-edits.ts';
import { SignedRows } from '../dnssec/signed-rows.ts';
import { dnskeyRecords, type KeySetting } from '../dnssec/zone-keys.ts';
import { pick, type Random } from '../random/random-zones.ts';
import { changesBetween } from '../random/signed-zones.ts';
import { zoneOfRecords } from '../zone/sign-zone.ts';
import { zonesOf } from '../zone/zone-text.ts';
import { resolveByHand } from './resolve-by-hand.ts';
import type { ExpectedVerdict } from './validator.ts';

/**
 * None sorts before `*`: there Unbound takes a wildcard's NODATA for bogus, if the record that covers the name reaches over
 * the apex's `*`, and Knot Resolver mistakes names in its cache. Both do so with zones of BIND's, too.
 */
const LABELS = [...PLAIN_LABELS, 'x\0y'];
const FIRST_EDITS = 12;
const TYPES = [TYPE.A, TYPE.A, TYPE.TXT, TYPE.NS, TYPE.DS, TYPE.CNAME, TYPE.AAAA];
/** At most so many questions after an edit. */
const QUESTIONS = 12;

export interface EditedZoneSetting {
  readonly apex: string;
  readonly denial: DenialKind;
  readonly setting: KeySetting;
  readonly random: Random;
}

export class EditedZone {
  readonly apex: string;
  /** DS records for a validator. */
  readonly anchors: readonly string[];
  readonly #random: Random;
  readonly #wanted: WantedZone;
  readonly #rows: SignedRows;
  readonly #sign: (wanted: ReadonlyMap<Name, readonly ZoneRecord[]>, whole: boolean) => void;

  constructor({ apex, denial, setting, random }: EditedZoneSetting) {
    const name = parseName(apex);
    const own = dnskeyRecords(name, setting.published);
    const now = Math.floor(Date.now() / 1000);
    const times = { inception: now - 10_000, expiration: now + 1_000_000 };
    this.apex = apex;
    this.anchors = dsLines(setting, apex).split('\n');
    this.#random = random;
    this.#wanted = new WantedZone(random, { apex: name, own, marks: true, labels: LABELS }, FIRST_EDITS);
    this.#rows = new SignedRows(name);
    this.#sign = (wanted, whole) =>
      this.#rows.sign({ apex: name, denial, keys: setting.keys, remakeBefore: now, wanted, whole }, times);
    this.#sign(this.#wanted.names, true);
  }

  zone(): Zone {
    return zoneOfRecords(parseName(this.apex), this.#rows.records());
  }

  /** One random edit, as the feed tells it, and questions about the names that it touched and those around them. */
  edit(): { readonly changes: ZoneChanges; readonly questions: readonly ExpectedVerdict[] } {
    const before = this.#rows.records();
    const touched = this.#wanted.edit();
    this.#sign(touched, false);
    const changes = changesBetween(before, this.#rows.records());
    return { changes, questions: this.questions([...touched.keys()], QUESTIONS) };
  }

  /** At most so many about these names and those around them; of the whole zone unless told. */
  questions(
    about: readonly Name[] = [...this.#wanted.names.keys()],
    count = Number.POSITIVE_INFINITY,
  ): readonly ExpectedVerdict[] {
    const near = about.flatMap((name) => this.#around(name));
    const names = [...new Set(near)].sort(() => this.#random() - 0.5).slice(0, count);
    const unsigned = zoneOfRecords(parseName(this.apex), [...this.#wanted.names.values()].flat());
    return names
      .map((name) => resolveByHand(zonesOf(unsigned), name, pick(this.#random, TYPES)))
      .filter((question) => question !== undefined);
  }

  #around(name: Name): Name[] {
    const apex = parseName(this.apex);
    const parent = name === apex ? apex : parentOf(name);
    const sibling = prependLabel(pick(this.#random, ['0', 'b0', 'zz', '\xff']), parent);
    const below = prependLabel(pick(this.#random, ['q', '*', 'a']), name);
    return [
      name,
      name,
      parent,
      sibling,
      below,
      below && prependLabel('r', below),
      wildcardBelow(parent),
    ].filter((each) => each !== undefined);
  }
}
