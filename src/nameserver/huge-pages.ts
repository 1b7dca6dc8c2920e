// Has the zone image in pages of 2 MiB instead of 4 KiB. A question about one of a million zones touches a few places that
// lie far apart; the processor's table of pages (TLB) has room for all of them only when pages are large.

import { type Libc, MADV_HUGEPAGE, SystemError } from './libc.ts';

const HUGE_PAGE = 2n ** 21n;

/**
 * Asks for them before the image is written, since a page gets its size when it is first touched. They cost memory only as
 * zones fill them, like small ones. Throws where the system has none; everything works without.
 */
export function useHugePages(libc: Libc, image: SharedArrayBuffer): void {
  const start = libc.addressOf(new Uint8Array(image));
  const from = ((start + HUGE_PAGE - 1n) / HUGE_PAGE) * HUGE_PAGE;
  const to = ((start + BigInt(image.byteLength)) / HUGE_PAGE) * HUGE_PAGE;
  if (to <= from) return;
  if (libc.madvise(from, to - from, MADV_HUGEPAGE) !== 0) throw new SystemError('madvise', libc.errno());
}
