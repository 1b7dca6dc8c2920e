// PEM blocks of a text that a customer gave (RFC 7468). Both the text and the number of blocks are bounded, so that a text of
// thousands of small blocks costs no more than a certificate does.

export const MAX_PEM_CHARACTERS = 65_536;
/** A leaf, and more intermediates than any authority has. */
const MAX_BLOCKS = 10;

interface PemBlock {
  /** `CERTIFICATE`, `PRIVATE KEY` … */
  readonly label: string;
  readonly text: string;
}

/** Text around the blocks is left out, as other programs do. */
export function decodePem(text: string): { readonly blocks: readonly PemBlock[] } | { problem: string } {
  if (text.length > MAX_PEM_CHARACTERS) return { problem: 'it has more than 64 KiB' };
  const blocks: PemBlock[] = [];
  for (let at = text.indexOf(BEGIN); at >= 0; at = text.indexOf(BEGIN, at)) {
    const head = text.indexOf('-----', at + BEGIN.length);
    const label = head < 0 ? '' : text.slice(at + BEGIN.length, head);
    if (!/^[A-Z0-9 ]{1,40}$/.test(label)) return { problem: 'a BEGIN line is cut off' };
    const foot = `-----END ${label}-----`;
    const end = text.indexOf(foot, head);
    if (end < 0) return { problem: `the line ${foot} is missing` };
    if (blocks.length === MAX_BLOCKS) return { problem: `it has more than ${MAX_BLOCKS} blocks` };
    const body = text.slice(head + 5, end).replace(/[ \t\r\n]+/g, '');
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(body) && !isEncrypted(text.slice(head, end)))
      return { problem: 'a block is not base64' };
    blocks.push({ label, text: `${text.slice(at, end)}${foot}\n` });
    at = end;
  }
  return { blocks };
}

const BEGIN = '-----BEGIN ';

/** The old form of encrypted keys has header lines in its block (RFC 1421). */
function isEncrypted(block: string): boolean {
  return block.includes('ENCRYPTED');
}
