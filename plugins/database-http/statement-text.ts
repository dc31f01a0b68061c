import { classify, splitStatements, type Classification, type Executor, type Translation } from '../../src/index.ts';

/** A statement of a request's text, classified. */
export interface RequestStatement {
  readonly text: string;
  readonly classification: Classification;
}

export function* readStatements(sql: string): Generator<RequestStatement, void, undefined> {
  for (const { text } of splitStatements(sql)) {
    const classification = classify(text);
    if (classification.kind !== 'empty') yield { text, classification };
  }
}

/** What becomes of a statement in `database`; the tables it names are looked up there. */
export async function translateIn(_database: string, _executor: Executor, statement: string): Promise<Translation> {
  const use = /^use\s+(?:"((?:[^"]|"")+)"|(\w+))$/i.exec(statement);
  if (use !== null) {
    return { kind: 'use', database: use[1]?.replaceAll('""', '"') ?? use[2]?.toLowerCase() ?? '' };
  }
  const set = /^set\s+cluster\s+setting\s+([\w.]+)\s*=\s*'?([^']*)'?$/i.exec(statement);
  if (set !== null) return { kind: 'set-cluster-setting', name: (set[1] ?? '').toLowerCase(), value: set[2] };
  const show = /^show\s+cluster\s+setting\s+([\w.]+)$/i.exec(statement);
  if (show !== null) return { kind: 'show-cluster-setting', name: (show[1] ?? '').toLowerCase() };
  return {
    kind: 'run',
    statements: [statement],
    transaction: false,
    doneOn: undefined,
    database: undefined,
    notices: [],
  };
}
