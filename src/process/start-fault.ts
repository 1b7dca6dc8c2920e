// A start that fails for a reason that the operator can mend: reported in one line, without a stack.

export class StartFault extends Error {
  override readonly name: string = 'StartFault';
}
