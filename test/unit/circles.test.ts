import assert from 'node:assert/strict';
import { importsBelow } from '../support/imports.ts';

type Imports = ReadonlyMap<string, readonly string[]>;

/** Files that can reach each other through imports, each set sorted (Tarjan's strongly connected components). */
function circles(imports: Imports): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const waiting: string[] = [];
  const visit = (file: string): number => {
    const own = order.size;
    let first = own;
    order.set(file, own);
    waiting.push(file);
    for (const imported of imports.get(file) ?? []) {
      const seen = order.get(imported);
      if (seen === undefined) first = Math.min(first, visit(imported));
      else if (waiting.includes(imported)) first = Math.min(first, seen);
    }
    if (first === own) {
      const circle = waiting.splice(waiting.indexOf(file));
      if (circle.length > 1 || imports.get(file)?.includes(file) === true) found.push(circle.sort());
    }
    return first;
  };
  for (const file of imports.keys()) {
    if (!order.has(file)) visit(file);
  }
  return found;
}

/** Imports between the folders of a package; files that are in no folder count as the folder `.`. */
function foldersOf(top: string, imports: Imports): Imports {
  const folderOf = (file: string): string => {
    const [folder = '', ...rest] = file.slice(top.length + 1).split('/');
    return rest.length === 0 ? '.' : folder;
  };
  const folders = new Map<string, string[]>();
  for (const [file, imported] of imports) {
    const own = folderOf(file);
    const others = imported.filter((each) => each.startsWith(`${top}/`) && folderOf(each) !== own).map(folderOf);
    folders.set(own, [...(folders.get(own) ?? []), ...others]);
  }
  return folders;
}

describe('the files of src, plugins and test', () => {
  it('do not import one another in circles, types included', () => {
    const imports = importsBelow('src', 'plugins', 'test');
    assert.ok(imports.size > 500);
    assert.deepEqual(circles(imports), []);
  });

  for (const top of ['src/herder', 'src/kafka', 'src/connect', 'src/rest', 'src/operate']) {
    it(`of the folders in ${top} neither`, () => {
      const folders = foldersOf(top, importsBelow(top));
      assert.ok(folders.size >= 1);
      assert.deepEqual(circles(folders), []);
    });
  }

  it('would be found if they did', () => {
    const imports = new Map([
      ['a', ['b', 'e']],
      ['b', ['c']],
      ['c', ['d', 'b']],
      ['d', ['a']],
      ['e', ['f']],
      ['f', []],
      ['g', ['g', 'a']],
    ]);
    assert.deepEqual(circles(imports), [['a', 'b', 'c', 'd'], ['g']]);
  });
});
