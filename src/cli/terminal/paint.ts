// Colours words on terminals that support it.

type Colour = 'red' | 'green' | 'yellow' | 'bold';
export type Paint = (colour: Colour, text: string) => string;

/** ANSI X3.64 SGR. */
const CODES: Readonly<Record<Colour, string>> = { red: '31', green: '32', yellow: '33', bold: '1' };

export function painter(colours: boolean): Paint {
  return colours ? (colour, text) => `\x1b[${CODES[colour]}m${text}\x1b[0m` : (_colour, text) => text;
}
