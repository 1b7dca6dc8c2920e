// Reads a text file that a person chose or dropped.

import { toast } from '../../app/toasts.ts';
import { imports } from '../../words/records.ts';

/** Maximum size that the API accepts. */
export const MOST_BYTES = 32 * 1024 * 1024;

/** Returns undefined if the file cannot be used; a message says why. */
export async function textOfFile(file: File): Promise<string | undefined> {
  if (file.size > MOST_BYTES) return refuse(imports.tooLarge);
  try {
    return await file.text();
  } catch {
    return refuse(imports.unreadable);
  }
}

function refuse(message: string): undefined {
  toast(message, 'bad');
}
