// Lists the mutants of a source file: small changes of its code that a test should notice. The operators are those of Stryker
// that apply to this code (https://stryker-mutator.io/docs/mutation-testing-elements/supported-mutators).

import { parseAst } from 'vitest/node';

export interface Mutant {
  readonly file: string;
  /** Offsets of the replaced text in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly operator: string;
  readonly original: string;
  readonly replacement: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const OPPOSITES: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&': '|',
  '|': '&',
  '<<': '>>',
  '>>': '<<',
  '>>>': '<<',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+=': '-=',
  '-=': '+=',
  '++': '--',
  '--': '++',
};

const METHODS: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['toLowerCase', 'toUpperCase'],
  ['trim', 'toString'],
]);

/** Declarations that do not exist at run time, or that name other files. */
const SKIPPED = /^(TS(?!AsExpression|SatisfiesExpression|NonNullExpression)|Import|Export(All|Specifier))/;

export function mutantsOf(file: string, text: string): Mutant[] {
  const mutants: Mutant[] = [];
  visit(parseAst(text, { lang: file.endsWith('.ts') ? 'ts' : 'js' }, file) as unknown as Node);
  return mutants;

  function add(operator: string, { start, end }: Pick<Node, 'start' | 'end'>, replacement: string): void {
    const line = text.slice(0, start).split('\n').length;
    mutants.push({ file, start, end, line, operator, original: text.slice(start, end), replacement });
  }

  function visit(node: Node): void {
    if (SKIPPED.test(node.type)) return;
    mutate(node);
    for (const [field, value] of Object.entries(node)) {
      if (field === 'key' && node.computed !== true) continue;
      for (const child of Array.isArray(value) ? value : [value]) {
        if (typeof child?.type === 'string' && typeof child.start === 'number') visit(child);
      }
    }
  }

  function mutate(node: Node): void {
    switch (node.type) {
      case 'BinaryExpression':
      case 'LogicalExpression':
      case 'AssignmentExpression':
        replaceBetween(node.left as Node, node.right as Node, node.operator as string);
        break;
      case 'UpdateExpression': {
        const opposite = OPPOSITES[node.operator as string] as string;
        add('UpdateOperator', node, text.slice(node.start, node.end).replace(/\+\+|--/, opposite));
        break;
      }
      case 'UnaryExpression': {
        const argument = node.argument as Node;
        if (node.operator === '!')
          add('BooleanLiteral', node, `!!(${text.slice(argument.start, argument.end)})`);
        if (node.operator === '-' && argument.type !== 'Literal')
          add('UnaryOperator', node, `+${text.slice(argument.start, argument.end)}`);
        break;
      }
      case 'IfStatement':
      case 'ConditionalExpression':
        add('ConditionalExpression', node.test as Node, 'true');
        add('ConditionalExpression', node.test as Node, 'false');
        break;
      case 'WhileStatement':
      case 'ForStatement':
        if (node.test) add('ConditionalExpression', node.test as Node, 'false');
        break;
      case 'Literal':
        if (typeof node.value === 'boolean') add('BooleanLiteral', node, String(!node.value));
        if (typeof node.value === 'string')
          add('StringLiteral', node, node.value === '' ? "'mutated'" : "''");
        break;
      case 'ArrayExpression':
        if ((node.elements as unknown[]).length > 0) add('ArrayDeclaration', node, '[]');
        break;
      case 'BlockStatement':
        if ((node.body as unknown[]).length > 0) add('BlockStatement', node, '{}');
        break;
      case 'CallExpression': {
        const { property } = node.callee as Node & { property?: Node & { name?: string } };
        const other = METHODS.get(property?.name ?? '');
        if (property && other) add('MethodExpression', property, other);
      }
    }
  }

  function replaceBetween(left: Node, right: Node, operator: string): void {
    const opposite = OPPOSITES[operator];
    if (opposite === undefined) return;
    const start = left.end + text.slice(left.end, right.start).indexOf(operator);
    const kind = /^[&|]{2}$|^\?\?$/.test(operator)
      ? 'LogicalOperator'
      : /^[=!<>]=?=?$/.test(operator)
        ? 'EqualityOperator'
        : 'ArithmeticOperator';
    add(kind, { start, end: start + operator.length }, opposite);
  }
}
