// Uses pages of 2 MiB instead of 4 KiB for the zone image. A query for one of a million zones reads a few distant
// addresses, and the processor's TLB covers all of them only if the pages are large.

import { readFileSync } from 'node:fs';
import { type Libc, MADV_HUGEPAGE, SystemError } from './libc.ts';

const HUGE_PAGE = 2 ** 21;
const SIZE_FILE = '/sys/kernel/mm/transparent_hugepage/hpage_pmd_size';

/**
 * Call it before zones are written, because a page gets its size when it is first touched. Throws if the kernel has no
 * huge pages or larger ones: with regular pages of 64 KiB, huge ones have 512 MiB, and a few zones would use a whole one.
 */
export function useHugePages(libc: Libc, image: SharedArrayBuffer, sizeFile = SIZE_FILE): void {
  const size = Number(readFileSync(sizeFile, 'utf8'));
  if (size !== HUGE_PAGE) throw new Error(`huge pages of this system have ${size} bytes, not ${HUGE_PAGE}`);
  const start = libc.addressOf(new Uint8Array(image, 0, 1));
  const [page, end] = [BigInt(HUGE_PAGE), start + BigInt(image.byteLength)];
  const from = ((start + page - 1n) / page) * page;
  const to = (end / page) * page;
  if (to <= from) return;
  if (libc.madvise(from, to - from, MADV_HUGEPAGE) !== 0) throw new SystemError('madvise', libc.errno());
}
