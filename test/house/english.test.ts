import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Phrases that read like a translation, and what to write instead. */
const PHRASES: readonly (readonly [phrase: string, instead: string])[] = [
  [String.raw`\btold\b`, 'notified, called, reported'],
  [String.raw`\btells? of\b`, 'reports'],
  [String.raw`\b(?:go|goes|went) on\b`, 'continues, resumes'],
  [String.raw`\banew\b`, 'again, from the start'],
  [String.raw`\bmend(?:s|ed|ing)?\b`, 'fix, repair'],
  [String.raw`\bwhoever\b`, 'the caller, the client, another worker'],
  [String.raw`\b(?:stand|stands|stood) (?:in|for|before|there|behind)\b`, 'is in, represents, precedes'],
  [String.raw`\blies? (?:in|behind|before|between)\b`, 'is in, is after, is before'],
  [String.raw`\b(?:come|comes|came|is there|are there) again\b`, 'recurs, returns'],
  [String.raw`\b(?:is|are|was|were) (?:away|back)(?! to\b)\b`, 'is unreachable, is reachable again, has returned'],
  [String.raw`\bhad better\b`, 'should'],
  [String.raw`\bhears? (?:of|nothing)\b`, 'is notified of, receives no response'],
  [String.raw`\bso (?:many|long)\b(?! (?:as|that)\b)`, 'that many, this long'],
  [String.raw`(?<!\bthere )\b(?:is|are|was|were) none\b`, 'is not one, is invalid'],
  [String.raw`\bfares?\b`, 'status, state'],
  [String.raw`\bof before\b`, 'previous, earlier'],
];

/** Comments that begin like this lack their subject. */
const WITHOUT_SUBJECT = String.raw`^(?:/\*+|//)[\s*]*(?:Of|What|To be|Told|Those)\b`;

/** Phrases that stay, by file, with the reason. */
const EXCEPTIONS: readonly (readonly [file: string, phrase: string, reason: string])[] = [
  ['src/kafka/consumer/position-validator.ts', 'is none', 'a value of auto.offset.reset'],
  ['test/integration/kafka-topic-identity.test.ts', 'is none', 'a value of auto.offset.reset'],
  ['test/integration/sink-formats.test.ts', 'is none', 'a value of auto.evolve'],
];

/** A comment, literal or paragraph, and where it begins in its file. */
interface Prose {
  readonly at: number;
  readonly text: string;
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly phrase: string;
  readonly instead: string;
}

// A phrase may go over the end of a line, in a comment or in a paragraph.
const RULES = [
  ...PHRASES.map(
    ([phrase, instead]) => [new RegExp(phrase.replaceAll(' ', String.raw`\s[\s*/]*`), 'gi'), instead] as const,
  ),
  [new RegExp(WITHOUT_SUBJECT, 'g'), 'a sentence with its subject'] as const,
];
/** Matches every file that has a phrase anywhere; only these are parsed. */
const ANY = new RegExp(RULES.map(([{ source }]) => source.replace('^', '')).join('|'), 'i');

/** Comments and string literals of a source. */
function proseOfSource(source: string, file: string): Prose[] {
  const parsed = ts.createSourceFile(file, source, ts.ScriptTarget.ESNext);
  const literals: Prose[] = [];
  const code: string[] = [];
  let end = 0;
  const visit = (node: ts.Node): void => {
    const isLiteral = ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node) || ts.isJsxText(node);
    if (isLiteral || ts.isRegularExpressionLiteral(node)) {
      const at = ts.isJsxText(node) ? node.pos : node.getStart(parsed);
      if (isLiteral) literals.push({ at, text: source.slice(at, node.end) });
      code.push(source.slice(end, at), ' '.repeat(node.end - at));
      end = node.end;
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  code.push(source.slice(end));
  // Literals are blank in the code, so that `//` within them begins no comment.
  const comments = code.join('').matchAll(/(?:^ *\/\/.*\n)+|\/\/.*|\/\*[\s\S]*?\*\//gm);
  return [
    ...literals,
    ...[...comments].map(({ index, 0: text }) => ({ at: index + text.search(/\S/), text: text.trim() })),
  ];
}

/** Paragraphs of a document, in which code is blank. */
function proseOfDocument(page: string): Prose[] {
  const blank = (text: string): string => text.replace(/[^\n]/g, ' ');
  const prose = page.replace(/^( *)```[\s\S]*?^\1```$/gm, blank).replace(/`[^`]*`/g, blank);
  return [...prose.matchAll(/(?:.+\n?)+/g)].map(({ index, 0: text }) => ({ at: index, text }));
}

function placesIn(file: string, source: string): Place[] {
  if (!ANY.test(source)) return [];
  const prose = file.endsWith('.md') ? proseOfDocument(source) : proseOfSource(source, file);
  return prose.flatMap(({ at, text }) =>
    RULES.flatMap(([rule, instead]) =>
      [...text.matchAll(rule)].map(({ index, 0: phrase }) => {
        const line = source.slice(0, at + index).split('\n').length;
        return { file, line, phrase: phrase.replace(/\s[\s*/]*/g, ' '), instead };
      }),
    ),
  );
}

/** The sources and documents of the repository, except this file, as paths from its top. */
function files(): string[] {
  const below = ['src', 'plugins', 'test', 'docs'].flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name.replaceAll('\\', '/')}`,
    ),
  );
  const pages = readdirSync(root).filter((name) => name.endsWith('.md'));
  return [...pages, ...below.sort()].filter(
    (path) =>
      /\.(?:tsx?|md)$/.test(path) &&
      !/\/node_modules\/|^test\/support\/run-/.test(path) &&
      path !== 'test/house/english.test.ts',
  );
}

describe('comments, texts and documents', () => {
  let places: readonly Place[];

  before(() => {
    places = files().flatMap((file) => placesIn(file, readFileSync(root + file, 'utf8')));
  });

  it('are in plain English', () => {
    const excepted = new Set(EXCEPTIONS.map(([file, phrase]) => `${file} ${phrase}`));
    const wrong = places.filter(({ file, phrase }) => !excepted.has(`${file} ${phrase.toLowerCase()}`));
    assert.deepEqual(
      wrong.map(({ file, line, phrase, instead }) => `${file}:${String(line)}: "${phrase}"; better: ${instead}`),
      [],
    );
  });

  it('have no exception that nothing needs', () => {
    const found = new Set(places.map(({ file, phrase }) => `${file} ${phrase.toLowerCase()}`));
    assert.deepEqual(
      EXCEPTIONS.filter(([file, phrase]) => !found.has(`${file} ${phrase}`)),
      [],
    );
  });

  it('are looked at where they are comments, literals and paragraphs, and nowhere else', () => {
    const source = [
      '/** Of one lane. */',
      'const told = /goes on/; // It goes',
      '// on and is told.',
      'const text = `anew ${told} mend`; // not "//": whoever',
      "const url = 'http://of before';",
      'const view = <p>It is away {/* Told so. */}</p>;',
    ].join('\n');
    assert.deepEqual(
      placesIn('a.tsx', source)
        .map(({ line, phrase }) => `${String(line)} ${phrase}`)
        .sort(),
      ['1 /** Of', '3 told', '4 anew', '4 mend', '4 whoever', '5 of before', '6 /* Told', '6 Told', '6 is away'],
    );
    const page = '# Told\n\n`told` and it goes\non\n\n```sh\ntold\n```\n';
    assert.deepEqual(
      placesIn('a.md', page).map(({ line, phrase }) => `${String(line)} ${phrase}`),
      ['1 Told', '3 goes on'],
    );
  });
});
