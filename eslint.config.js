import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import * as regexp from 'eslint-plugin-regexp';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const root = fileURLToPath(new URL('.', import.meta.url));

/**
 * Imports that are forbidden by their names. A rule applies to every file below `outside`, except those below `inside`, and to both
 * static and dynamic imports; `allowTypeImports` permits imports of types.
 */
const restrictedImports = [
  {
    packages: '^kafkajs(/|$)',
    outside: ['src/', 'plugins/'],
    inside: ['src/kafka/'],
    message: 'Only src/kafka imports the Kafka library.',
  },
  {
    packages: '^pg(-.*)?(/|$)',
    outside: ['src/', 'plugins/'],
    inside: ['plugins/database/executor/'],
    message: 'Only plugins/database/executor imports the PostgreSQL driver.',
  },
  {
    packages: '^(@?koa)(/|-|$)',
    outside: ['src/', 'plugins/'],
    inside: ['src/rest/', 'plugins/database-http/'],
    message: 'Only src/rest and plugins/database-http import Koa.',
  },
  {
    packages:
      '^(node:)?(fs|net|http|http2|https|tls|dns|dgram|child_process|cluster|worker_threads|process|readline|repl|inspector|' +
      'timers|os|stream|zlib|v8|vm|sqlite|test)(/|$)|^pino',
    outside: ['plugins/database/formats/', 'plugins/database/sql/'],
    inside: [],
    message: 'plugins/database/formats and plugins/database/sql do no I/O.',
  },
  {
    packages: '^[^./]',
    outside: ['src/data/'],
    inside: [],
    message: 'src/data imports nothing.',
  },
  {
    packages: '/(rest|operate)/(?!.*answers\\.ts$)',
    outside: ['src/cli/'],
    inside: [],
    message: 'Of src/rest and src/operate, src/cli imports only the types of answers.',
  },
  {
    packages: '/(rest|operate)/.*answers\\.ts$',
    outside: ['src/cli/'],
    inside: [],
    message: 'Of src/rest and src/operate, src/cli imports only the types of answers.',
    allowTypeImports: true,
  },
];

/**
 * Packages that the files of each package (a folder or a file of `src` or of `plugins/database`, or another plugin) may import
 * besides their own. A package that is missing here may import nothing. `test/house/package-imports.test.ts` reads the same table.
 */
export const MAY_IMPORT = {
  data: [],
  'errors.ts': ['data'],
  'version.ts': [],
  async: [],
  http: [],
  java: ['data'],
  observe: ['data', 'errors.ts'],
  json: ['data', 'errors.ts'],
  config: ['data', 'errors.ts', 'http', 'java', 'observe', 'version.ts'],
  tls: ['config', 'errors.ts'],
  kafka: ['async', 'config', 'data', 'errors.ts', 'http', 'java', 'observe', 'tls', 'version.ts'],
  connect: ['async', 'config', 'data', 'errors.ts', 'java', 'kafka', 'observe'],
  converters: ['async', 'config', 'connect', 'data', 'errors.ts', 'http', 'java', 'json', 'tls', 'version.ts'],
  transforms: ['config', 'connect', 'converters', 'data', 'errors.ts', 'java', 'version.ts'],
  threads: ['async', 'connect', 'data', 'errors.ts', 'observe'],
  herder: ['async', 'config', 'connect', 'converters', 'data', 'errors.ts', 'http', 'java', 'kafka', 'observe'],
  rest: [
    'async',
    'config',
    'connect',
    'converters',
    'data',
    'errors.ts',
    'herder',
    'http',
    'java',
    'json',
    'observe',
    'tls',
    'version.ts',
  ],
  operate: [
    ...['async', 'config', 'connect', 'converters', 'data', 'errors.ts', 'herder', 'http', 'java', 'json', 'kafka'],
    ...['observe', 'rest', 'version.ts'],
  ],
  'index.ts': [
    'async',
    'config',
    'connect',
    'converters',
    'data',
    'errors.ts',
    'http',
    'java',
    'json',
    'observe',
    'version.ts',
  ],
  'plugins/database/sql': ['data', 'errors.ts'],
  'plugins/database/formats': ['data', 'errors.ts', 'json', 'plugins/database/sql'],
  'plugins/database/executor': ['async', 'config', 'data', 'errors.ts', 'observe', 'plugins/database/sql'],
  'plugins/database/index.ts': [
    ...[
      'data',
      'errors.ts',
      'observe',
      'plugins/database/executor',
      'plugins/database/formats',
      'plugins/database/sql',
    ],
  ],
  worker: [
    ...['config', 'connect', 'converters', 'data', 'errors.ts', 'herder', 'kafka', 'observe', 'operate', 'rest'],
    ...['threads', 'tls', 'transforms', 'version.ts', 'plugins'],
  ],
  dev: ['async', 'config', 'errors.ts', 'http', 'kafka', 'observe', 'worker', 'plugins/database/index.ts'],
  cli: [
    ...['async', 'config', 'connect', 'data', 'errors.ts', 'herder', 'http', 'kafka', 'observe', 'operate', 'rest'],
    ...['tls', 'version.ts', 'worker'],
  ],
  'cli.ts': ['cli', 'config', 'dev', 'errors.ts', 'observe', 'version.ts', 'worker'],
  // Types alone: `test/house/console.test.ts`.
  'plugins/console': ['json', 'operate', 'rest'],
  'plugins/database-http': ['index.ts', 'plugins/database/index.ts'],
  'plugins/db-sink': ['index.ts', 'plugins/database/index.ts'],
  'plugins/log-source': ['index.ts', 'plugins/database/index.ts'],
  'plugins/db-source': ['index.ts', 'plugins/database/index.ts', 'plugins/log-source'],
  'plugins/file-stream': ['index.ts'],
  'plugins/verifiable': ['index.ts'],
};

/** The same table as zones of the lint rule: imports that are not named are forbidden. */
const packageZones = [
  ...Object.entries(MAY_IMPORT).flatMap(([name, allowed]) => {
    const path = name.startsWith('plugins/') ? name : `src/${name}`;
    const open = [path, ...allowed.map((other) => (other.startsWith('plugins') ? other : `src/${other}`))];
    const names = open.slice(1).join(', ') || 'nothing';
    const message = `${path} imports ${names}; the table MAY_IMPORT is in eslint.config.js.`;
    const zone = (from) => ({
      target: `./${path}`,
      from: `./${from}`,
      except: open.filter((other) => other.startsWith(`${from}/`)).map((other) => `.${other.slice(from.length)}`),
      message,
    });
    return allowed.includes('plugins') ? [zone('src')] : [zone('src'), zone('plugins')];
  }),
  {
    target: ['./src', './plugins'],
    from: './test',
    message: 'The product does not import its tests.',
  },
  {
    target: ['./src', './plugins/console/src'],
    from: './plugins/console/test',
    message: 'The product does not import its tests.',
  },
];

/** File names are kebab-case nouns or verbs; the words below say nothing about what is inside. */
const fileName = {
  meta: { type: 'suggestion', schema: [] },
  create: (context) => ({
    Program(node) {
      const [stem = ''] = basename(context.filename).split('.');
      if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(stem)) {
        context.report({ node, message: `The file name '${stem}' is not kebab-case.` });
      }
      if (stem.split('-').some((word) => /^(utils?|helpers?|commons?|managers?|misc)$/.test(word))) {
        context.report({ node, message: `The file name '${stem}' does not say what the file is about.` });
      }
    },
  }),
};

/** Flat configuration replaces a rule's options instead of adding to them, so each group of files gets its whole list. */
function packageRules(place) {
  const barred = restrictedImports.filter(
    ({ outside, inside }) => outside.some((path) => place.startsWith(path)) && !inside.includes(place),
  );
  return {
    '@typescript-eslint/no-restricted-imports': [
      'error',
      {
        patterns: barred.map(({ packages, message, allowTypeImports = false }) => ({
          regex: packages,
          message,
          allowTypeImports,
        })),
      },
    ],
    'no-restricted-syntax': [
      'error',
      ...barred.map(({ packages, message }) => ({
        selector: `ImportExpression[source.value=/${packages.replaceAll('/', '\\u002F')}/]`,
        message,
      })),
    ],
  };
}

const places = [
  'src/',
  'plugins/',
  ...new Set(restrictedImports.flatMap(({ outside, inside }) => [...outside, ...inside])),
];

export default defineConfig(
  globalIgnores(['dist/', 'dist-test/', 'site/', 'node_modules/', '.sluice/', 'test/support/run-*/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: root } },
    plugins: { 'import-x': importX, house: { rules: { 'file-name': fileName } } },
    settings: { 'import-x/resolver-next': [createNodeResolver({ extensions: ['.ts', '.js', '.json'] })] },
    rules: {
      'house/file-name': 'error',
      'import-x/no-default-export': 'error',
      'import-x/no-restricted-paths': ['error', { basePath: root, zones: packageZones }],
      eqeqeq: ['error', 'always'],
      'no-console': 'error',
      'object-shorthand': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'none' },
      ],
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true, allowThrowingAny: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Wrong about whatever changes while something else is awaited.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // Methods of an asynchronous interface need not wait for anything, and its callbacks may.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/no-dynamic-delete': 'off',
      '@typescript-eslint/no-misused-spread': 'off',
      '@typescript-eslint/prefer-optional-chain': 'off',
      // Keys of the environment and of configurations stand in quotes.
      '@typescript-eslint/dot-notation': 'off',
    },
  },
  ...places.map((place) => ({ files: [`${place}**/*.ts`, `${place}**/*.tsx`], rules: packageRules(place) })),
  { files: ['src/**/*.ts', 'plugins/**/*.ts', 'plugins/**/*.tsx'], rules: { 'max-lines': ['error', 400] } },
  {
    // Texts from outside must not stop the worker: no expression may take more than linear time, wherever a match begins.
    files: ['src/**/*.ts', 'plugins/**/*.ts'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignoreSticky: false, ignorePartial: false }],
    },
  },
  {
    // Hot loops over arrays whose bounds were checked.
    files: [
      'src/data/**/*.ts',
      'src/kafka/**/*.ts',
      'plugins/database/formats/**/*.ts',
      'plugins/database/executor/**/*.ts',
      'src/connect/pipeline/struct-plan.ts',
      'src/converters/avro/avro-reader.ts',
    ],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    files: ['src/cli.ts', 'src/dev/**/*.ts', 'test/**/*.ts', 'plugins/console/test/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
  { files: ['test/support/reporter.ts'], rules: { 'import-x/no-default-export': 'off' } },
);
