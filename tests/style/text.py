#!/usr/bin/env python3
"""What .editorconfig asks of text files: UTF-8, LF, a newline at the end, no trailing blanks, no tabs, 100 columns.

And of manual pages that scdoc reads: no single backslash in an example, of which nothing would be left. And of the top folder: no
file that is not listed here, because what a program has left there is easily committed with the rest."""
import os
import sys

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
code = ('.c', '.h', '.cpp', '.py', '.sh', '.cmake', '.in', '.txt', '.json', '.md', '.scd', '')
wide = ('.md', '.scd', '.json', '.txt', '.py', '.in', '')  # prose, tables and scripts may be wider
skip = ('build', '.git', os.path.join('tests', 'corpus'), os.path.join('tests', 'fuzz', 'corpus'),
        os.path.join('tests', 'cli'), os.path.join('tests', 'stats', 'data'), os.path.join('datasets', 'openstack'))
top = {'.clang-format', '.clang-tidy', '.editorconfig', '.git', '.gitattributes', '.gitignore', 'ARCHITECTURE.md', 'CHANGELOG.md',
       'CMakeLists.txt', 'CMakePresets.json', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md', 'dev'}
faults = []

for folder, folders, files in os.walk(root):
    here = os.path.relpath(folder, root)
    folders[:] = [f for f in folders if os.path.normpath(os.path.join(here, f)) not in skip]
    if here == '.':
        faults += [f'{name}: does not belong into the top folder' for name in files if name not in top]
    for name in files:
        path = os.path.normpath(os.path.join(here, name))
        if os.path.splitext(name)[1] not in code or name in ('LICENSE', 'dip_table.c'):
            continue
        with open(os.path.join(root, path), 'rb') as f:
            data = f.read()
        try:
            text = data.decode('utf-8')
        except UnicodeDecodeError:
            faults.append(f'{path}: is not UTF-8')
            continue
        if b'\r' in data:
            faults.append(f'{path}: has carriage returns')
        if data and not data.endswith(b'\n'):
            faults.append(f'{path}: does not end with a newline')
        literal = False
        for number, line in enumerate(text.split('\n'), 1):
            if line != line.rstrip():
                faults.append(f'{path}:{number}: blanks at the end of the line')
            if '\t' in line and os.path.splitext(name)[1] in ('.c', '.h', '.cpp', '.py'):
                faults.append(f'{path}:{number}: a tab')
            if len(line) > 100 and os.path.splitext(name)[1] not in wide:
                faults.append(f'{path}:{number}: {len(line)} columns')
            if name.endswith('.scd'):
                literal ^= line == '```'
                if literal and '\\' in line.replace('\\\\', ''):
                    faults.append(f'{path}:{number}: a single backslash, which scdoc takes away: write two')

print('\n'.join(faults))
sys.exit(1 if faults else 0)
