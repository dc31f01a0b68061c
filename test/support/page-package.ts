import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Returns the files that a page contains: each code block that follows a line with nothing but the name of the file.
 */
export async function filesOfPage(page: string): Promise<ReadonlyMap<string, string>> {
  const blocks = (await readFile(join(projectRoot, page), 'utf8')).matchAll(
    /^`([\w./-]+)`:\n\n```\w+\n([\s\S]*?\n)```$/gm,
  );
  return new Map([...blocks].map(([, name = '', text = '']) => [name, text]));
}

export async function writeFiles(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const [name, text] of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/**
 * Compiles a plugin package with its own tsconfig.json against the types of this project. Returns the errors of the
 * compiler, one line each.
 */
export function compilePackage(folder: string): string[] {
  const configFile = ts.readConfigFile(join(folder, 'tsconfig.json'), (path) => ts.sys.readFile(path));
  const parsed = ts.parseJsonConfigFileContent(configFile.config, ts.sys, folder);
  const { rootDir: _, ...options } = parsed.options;
  const program = ts.createProgram(parsed.fileNames, {
    ...options,
    rewriteRelativeImportExtensions: true,
    paths: { sluice: [join(projectRoot, 'src/index.ts')] },
    typeRoots: [join(projectRoot, 'node_modules/@types')],
    rootDir: '/',
  });
  const complaints: ts.Diagnostic[] = [...program.getOptionsDiagnostics()];
  for (const name of parsed.fileNames) {
    const file = program.getSourceFile(name);
    complaints.push(...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file));
    program.emit(file, (path, text) => {
      ts.sys.writeFile(path.replace(join(options.outDir ?? '', folder, 'src'), options.outDir ?? ''), text);
    });
  }
  return complaints.map(({ file, messageText, start = 0 }) => {
    const line =
      file === undefined ? '' : `${file.fileName}:${String(file.getLineAndCharacterOfPosition(start).line + 1)}: `;
    return line + ts.flattenDiagnosticMessageText(messageText, '\n');
  });
}
