// The types of compile.mjs.

export function compile(
  root: string,
  program: string,
  options: { readonly dataDirectory: string; readonly say: (text: string) => void },
): Promise<string | undefined>;

export function findCompiled(root: string, program: string, dataDirectory: string): string | undefined;
