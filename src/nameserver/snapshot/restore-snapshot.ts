// Fills an image from the files of a snapshot: first the base, whose checksums are verified, then the entries of the log.
// The blocks are checked later, while the image already answers (check-thread.ts).

import { statSync } from 'node:fs';
import { buildZone } from '../../zone/build-zone.ts';
import type { Image } from '../image/image.ts';
import { FORMAT, HEADER_BYTES, READER_SLOTS_AT } from '../image/layout.ts';
import type { ImageWriter } from '../image/write-image.ts';
import type { ImageProgress } from '../threads/image-progress.ts';
import type { ReadFile } from './plain-file.ts';
import { readBase, wipe } from './snapshot-base.ts';
import type { FeedPlace, SnapshotEntry } from './snapshot-entry.ts';

type RestoredBase =
  | {
      readonly kind: 'read';
      readonly id: Uint8Array;
      /** The free space, for the image's writer. */
      readonly free: Int32Array;
      readonly place: FeedPlace | undefined;
      readonly bytes: number;
    }
  | { readonly kind: 'refused'; readonly why: string };

/** Reads a base into the image, which must be empty. If the base is not valid, the image is emptied again. */
export function restoreBase(
  file: string,
  image: Image,
  progress: ImageProgress,
  read: ReadFile | undefined,
): RestoredBase {
  const header = image.header.slice(0, READER_SLOTS_AT);
  const fresh = new Uint8Array(image.buffer, HEADER_BYTES, image.endBytes - HEADER_BYTES);
  const first = fresh.slice();
  const onBytes = (done: number, total: number) => progress.reach(mebibytes(done), mebibytes(total));
  let filled = { from: 0, to: 0 };
  let isSound = false;
  try {
    const base = readBase(file, image.buffer, FORMAT, { onBytes, ...(read && { read }) });
    if (base.kind === 'refused') return base;
    filled = base;
    const free = new Int32Array(base.free.buffer);
    image.importHeader(new Int32Array(base.header.buffer));
    const isWhole = base.from === HEADER_BYTES && base.to === image.endBytes;
    if (!isWhole)
      return { kind: 'refused', why: 'its content is not valid: its blocks do not match its head' };
    isSound = true;
    return { kind: 'read', id: base.id, free, place: base.place, bytes: base.to - base.from };
  } finally {
    if (!isSound) {
      wipe(image.buffer, filled.from, filled.to);
      image.header.set(header);
      fresh.set(first);
    }
  }
}

/** Applies an entry of the log to the image. */
export function applyEntry(
  writer: ImageWriter,
  entry: Exclude<SnapshotEntry, { readonly kind: 'place' }>,
): void {
  switch (entry.kind) {
    case 'zone': {
      const built = buildZone(entry.apex, entry.records);
      if (built.kind === 'built') writer.put(built.zone, entry.content);
      return;
    }
    case 'sets':
      writer.edit(entry.apex, entry.content, entry);
      return;
    case 'removal':
      writer.remove(entry.apex);
      return;
    default:
      entry satisfies never;
  }
}

/** Returns a warning if the log was not read to its end. `end` is undefined if the log was refused. */
export function describeDamage(
  file: string,
  end: number | undefined,
): { readonly fields: object; readonly message: string } | undefined {
  if (end === undefined) {
    const message = 'the log of the snapshot is refused: it is damaged, or belongs to another one';
    return { fields: { file }, message };
  }
  const lost = statSync(file).size - end;
  if (lost <= 0) return undefined;
  return {
    fields: { file, lost },
    message: 'the log of the snapshot ends early: later changes are loaded from Postgres',
  };
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
