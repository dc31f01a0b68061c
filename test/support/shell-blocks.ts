import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Returns the text of the ```sh blocks of a section of a document, in order, without the indentation of lists. */
export async function shellBlocks(path: string, heading: string): Promise<string[]> {
  const page = await readFile(root + path, 'utf8');
  const [section = ''] = (page.split(`\n## ${heading}\n`)[1] ?? '').split('\n## ');
  return [...section.matchAll(/^( *)```sh\n([\s\S]*?)\n *```$/gm)].map(([, indent = '', text = '']) =>
    text
      .split('\n')
      .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
      .join('\n'),
  );
}
