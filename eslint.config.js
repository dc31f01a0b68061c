import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const root = fileURLToPath(new URL('.', import.meta.url));

/**
 * The doors of the house that bar packages. A file is held to every door whose `outside` it lies in, unless it lies in
 * `inside`. Both kinds of import are barred, the static and the dynamic one.
 */
const packageDoors = [
  {
    packages: '^kafkajs(/|$)',
    outside: ['src/', 'plugins/'],
    inside: ['src/kafka/'],
    message: 'Only src/kafka imports the Kafka library.',
  },
  {
    packages: '^pg(-.*)?(/|$)',
    outside: ['src/', 'plugins/'],
    inside: ['src/database/'],
    message: 'Only src/database imports the PostgreSQL driver.',
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
    outside: ['src/formats/', 'src/sql/'],
    inside: [],
    message: 'src/formats and src/sql do no I/O.',
  },
  {
    packages: '^[^./]',
    outside: ['src/data/'],
    inside: [],
    message: 'src/data imports nothing.',
  },
];

/** The doors between the rooms: what a file below `target` may not import. */
const roomDoors = [
  {
    target: './src/data',
    from: './src',
    except: ['./data'],
    message: 'src/data imports nothing.',
  },
  {
    target: ['./src/formats', './src/sql'],
    from: './src',
    except: ['./data', './formats', './sql', './errors.ts'],
    message: 'src/formats and src/sql import data, errors.ts and each other.',
  },
  {
    target: './src/connect',
    from: './src/herder',
    message: 'src/connect does not know the herder.',
  },
  {
    target: './plugins',
    from: './src',
    except: ['./index.ts'],
    message: 'A plugin imports from src/index.ts alone; what it does not find there is missing from the plugin API.',
  },
  ...['db-sink', 'db-source', 'database-http', 'file-stream', 'console'].map((plugin) => ({
    target: `./plugins/${plugin}`,
    from: './plugins',
    except: [`./${plugin}`],
    message: 'A plugin imports from src/index.ts alone, never from another plugin.',
  })),
  {
    target: ['./src', './plugins'],
    from: './test',
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
  const barred = packageDoors.filter(
    ({ outside, inside }) => outside.some((path) => place.startsWith(path)) && !inside.includes(place),
  );
  return {
    'no-restricted-imports': [
      'error',
      { patterns: barred.map(({ packages, message }) => ({ regex: packages, message })) },
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

const places = ['src/', 'plugins/', ...new Set(packageDoors.flatMap(({ outside, inside }) => [...outside, ...inside]))];

export default defineConfig(
  globalIgnores(['dist/', 'node_modules/', '.sluice/', 'test/support/run-*/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: root } },
    plugins: { 'import-x': importX, house: { rules: { 'file-name': fileName } } },
    settings: { 'import-x/resolver-next': [createNodeResolver({ extensions: ['.ts', '.js', '.json'] })] },
    rules: {
      'house/file-name': 'error',
      'import-x/no-default-export': 'error',
      'import-x/no-restricted-paths': ['error', { basePath: root, zones: roomDoors }],
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
  ...places.map((place) => ({ files: [`${place}**/*.ts`], rules: packageRules(place) })),
  { files: ['src/**/*.ts', 'plugins/**/*.ts'], rules: { 'max-lines': ['error', 400] } },
  {
    // Hot loops over arrays whose bounds were checked.
    files: ['src/data/**/*.ts', 'src/kafka/**/*.ts', 'src/formats/**/*.ts', 'src/database/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  { files: ['src/cli.ts', 'src/dev/**/*.ts', 'test/**/*.ts'], rules: { 'no-console': 'off' } },
  { files: ['test/support/reporter.ts'], rules: { 'import-x/no-default-export': 'off' } },
);
