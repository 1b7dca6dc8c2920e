// The types of compile.mjs.

export function compile(
  root: string,
  program: string,
  options: { readonly dataDirectory: string; readonly say: (text: string) => void },
): Promise<string | undefined>;

export function compileForPackage(root: string, directory: string): Promise<void>;
