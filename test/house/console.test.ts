import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { texts } from '../../plugins/console/src/texts/editor.ts';
import { builtInPlugins } from '../../src/worker/built-in-plugins.ts';
import { importsBelow, importsOf } from '../support/imports.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const ANSWERS = 'plugins/console/src/common/answers.ts';
/** Schemas, and lists of words that import nothing. */
const SCHEMAS = /answers\.ts$|^src\/json\/open-api\.ts$|^src\/herder\/recorded-change\.ts$|\/verdicts\.ts$/;

/** A component is one function with its hooks. */
const MAX_LINES = 80;
/** Elements that only the kit uses. */
const OF_KIT = /<(?:dialog|form|select|table)\b|<button(?! type="submit")/;

/** The sources of the console below this folder of it. */
function filesOf(folder: string): readonly string[] {
  const path = join('plugins/console', folder);
  return readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(path, file));
}

function sourceOf(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(root + file, 'utf8'), ts.ScriptTarget.ESNext, true);
}

describe('the console for browsers', () => {
  it('imports types of answers from the worker, in one file, and nothing else', () => {
    const importing = [...filesOf('src'), ...filesOf('test')].filter((file) =>
      importsOf(file).some((path) => path.startsWith('src/')),
    );
    assert.deepEqual(importing, [ANSWERS]);
    assert.deepEqual(
      importsOf(ANSWERS).filter((path) => !SCHEMAS.test(path)),
      [],
    );
    const values = sourceOf(ANSWERS).statements.filter(
      (each) => !ts.isTypeAliasDeclaration(each) && !/^(?:import|export) type /.test(each.getText()),
    );
    assert.deepEqual(
      values.map((each) => each.getText()),
      [],
    );
  });

  it('offers only purposes for which the worker has a plugin', async () => {
    const classes = (await builtInPlugins({ strictJson: false })).map(({ className }) => className);
    const missing = texts.cards.filter((card) => !classes.some((each) => each.endsWith(`.${card.class}`)));
    assert.deepEqual(missing, []);
  });

  it('finds schemas that import no other code of the worker', () => {
    const answers = [...importsBelow('src')].filter(([file]) => file.endsWith('answers.ts'));
    assert.ok(answers.length > 5);
    assert.deepEqual(
      answers.flatMap(([, imports]) => imports.filter((path) => !SCHEMAS.test(path))),
      [],
    );
  });

  it('has components of at most 80 lines', () => {
    const components = filesOf('src').flatMap((file) => {
      const source = sourceOf(file);
      const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
      return source.statements.filter(ts.isFunctionDeclaration).flatMap((each) => {
        const name = each.name?.text ?? '';
        const lines = lineAt(each.end) - lineAt(each.getStart()) + 1;
        return /^[A-Z]/.test(name) ? [{ name, file, lines }] : [];
      });
    });
    assert.ok(components.length > 100);
    assert.deepEqual(
      components.filter(({ lines }) => lines > MAX_LINES),
      [],
    );
  });

  it('makes buttons, forms, fields, tables and dialogs with its kit', () => {
    const own = filesOf('src').filter(
      (file) => !file.startsWith('plugins/console/src/kit/') && OF_KIT.test(readFileSync(root + file, 'utf8')),
    );
    // Only rows that are seen are in the table of connectors.
    assert.deepEqual(own, ['plugins/console/src/fleet/fleet-table.tsx']);
  });
});
