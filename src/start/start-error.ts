// A start that cannot go on for a reason that the operator can mend: printed as one line, without a stack.

export class StartError extends Error {
  override readonly name = 'StartError';
}
