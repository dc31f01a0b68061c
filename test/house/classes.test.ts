import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { importsBelow } from '../support/imports.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const WORKER = ['src/worker', 'src/herder', 'src/operate', 'src/rest', 'src/kafka', 'src/connect'];
const DATABASE = ['plugins'];
const MAX_LINES = 250;
const MAX_FIELDS = 15;
/** Classes over the limits whose parts change the same state. No class joins this list. */
const LARGE = [
  'ClassicMembership',
  'JsonDbDecoder',
  'LineLpDecoder',
  'LineScanner',
  'RowReader',
  'TableReader',
  'WriteLane',
];

const imports = importsBelow(...WORKER, ...DATABASE);

/** The classes of a file that are over the limits. */
function largeClasses(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(root + file, 'utf8'), ts.ScriptTarget.ESNext, true);
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  return source.statements.filter(ts.isClassDeclaration).flatMap((declared) => {
    const lines = lineAt(declared.end) - lineAt(declared.getStart()) + 1;
    const fields = declared.members.filter(ts.isPropertyDeclaration).length;
    return lines > MAX_LINES || fields > MAX_FIELDS ? [declared.name?.text ?? file] : [];
  });
}

/** Interfaces of what a class is given as one object, with the number of their members. */
function bagsOf(file: string): (readonly [name: string, members: number])[] {
  const source = ts.createSourceFile(file, readFileSync(root + file, 'utf8'), ts.ScriptTarget.ESNext, true);
  return source.statements
    .filter(ts.isInterfaceDeclaration)
    .filter(({ name }) => name.text.endsWith('Dependencies'))
    .map(({ name, members, heritageClauses }) => {
      return [name.text, heritageClauses === undefined ? members.length : Infinity] as const;
    });
}

describe('the classes and files of the packages', () => {
  it('are small, but for those that are listed', () => {
    assert.deepEqual([...imports.keys()].flatMap(largeClasses).sort(), LARGE);
  });

  it('are given what they use: at most 20 are given an object of collaborators, with at most eight members', () => {
    const bags = [...imports.keys()].flatMap(bagsOf);
    assert.ok(bags.length > 0 && bags.length <= 20, String(bags.length));
    assert.deepEqual(
      bags.filter(([, members]) => members > 8),
      [],
    );
  });

  it('choose between distributed and standalone once', () => {
    const choices = [...importsBelow(...WORKER).keys()].flatMap((file) =>
      [...readFileSync(root + file, 'utf8').matchAll(/\bmode [!=]==/g)].map(() => file),
    );
    assert.deepEqual(choices, ['src/worker/worker.ts']);
  });
});
