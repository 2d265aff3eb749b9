//! Checks that no modules or files of a crate depend on each other in a cycle, and that no function takes a tuple.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so at once"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, FnArg, Item, ItemFn, ItemMod, ItemUse, Signature, Type, UseTree};

/// Path of a module below its crate, as names from the top; empty for the crate's root.
type ModulePath = Vec<String>;
type Uses = BTreeMap<ModulePath, BTreeSet<ModulePath>>;

/// Module with a file of its own.
struct Module {
    path: ModulePath,
    syntax: syn::File,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Returns the modules of a crate that have files, without test modules.
fn modules(root_file: &Path) -> Vec<Module> {
    let folder = root_file.parent().unwrap();
    let mut found = Vec::new();
    let mut open = vec![(Vec::new(), root_file.to_owned())];
    while let Some((path, file)) = open.pop() {
        let syntax = syn::parse_file(&std::fs::read_to_string(&file).unwrap());
        let syntax = syntax.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for item in &syntax.items {
            let Item::Mod(ItemMod {
                attrs,
                ident,
                content: None,
                ..
            }) = item
            else {
                continue;
            };
            let child: ModulePath = path.iter().cloned().chain([ident.to_string()]).collect();
            let beside = folder.join(child.join("/")).with_extension("rs");
            let inside = folder.join(child.join("/")).join("mod.rs");
            let file = [beside, inside].into_iter().find(|file| file.exists());
            if let Some(file) = file.filter(|_| !is_test(attrs)) {
                open.push((child, file));
            }
        }
        found.push(Module { path, syntax });
    }
    found
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|path| path.is_ident("test"))
    })
}

/// Collector of every path that a module names, from the crate's root, and of its functions that take tuples.
struct Reader<'a> {
    module: &'a ModulePath,
    named: BTreeSet<ModulePath>,
    tuples: Vec<String>,
}

impl Reader<'_> {
    fn name(&mut self, segments: &[String]) {
        let Some((first, rest)) = segments.split_first() else {
            return;
        };
        let mut from = self.module.clone();
        match first.as_str() {
            "crate" => from.clear(),
            "self" => {}
            "super" => {
                from.pop();
            }
            _ => from.push(first.clone()),
        }
        for segment in rest {
            match segment.as_str() {
                "super" => drop(from.pop()),
                name => from.push(name.to_owned()),
            }
        }
        self.named.insert(from);
    }

    fn tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |ident: &syn::Ident| before.iter().cloned().chain([ident.to_string()]).collect::<Vec<_>>();
        match tree {
            UseTree::Path(path) => self.tree(&with(&path.ident), &path.tree),
            UseTree::Name(name) if name.ident == "self" => self.name(before),
            UseTree::Name(name) => self.name(&with(&name.ident)),
            UseTree::Rename(rename) => self.name(&with(&rename.ident)),
            UseTree::Glob(_) => self.name(before),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(before, tree)),
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if path.leading_colon.is_none() && segments.len() > 1 {
            self.name(&segments);
        }
        visit::visit_path(self, path);
    }

    fn visit_signature(&mut self, signature: &'ast Signature) {
        let takes = signature.inputs.iter().any(|input| match input {
            FnArg::Typed(argument) => has_tuple(&argument.ty),
            FnArg::Receiver(_) => false,
        });
        self.tuples.extend(takes.then(|| signature.ident.to_string()));
        visit::visit_signature(self, signature);
    }
}

fn has_tuple(of: &Type) -> bool {
    struct Tuples(bool);
    impl<'ast> Visit<'ast> for Tuples {
        fn visit_type_tuple(&mut self, tuple: &'ast syn::TypeTuple) {
            self.0 |= !tuple.elems.is_empty();
        }
    }
    let mut tuples = Tuples(false);
    tuples.visit_type(of);
    tuples.0
}

/// Returns the names that a module imports, with the modules that they come from.
fn brought(module: &Module) -> BTreeMap<String, ModulePath> {
    let mut found = BTreeMap::new();
    for item in &module.syntax.items {
        let Item::Use(item) = item else { continue };
        let mut reader = Reader {
            module: &module.path,
            named: BTreeSet::new(),
            tuples: Vec::new(),
        };
        reader.visit_item_use(item);
        for path in reader.named {
            found.extend(path.last().cloned().map(|name| (name, path.clone())));
        }
    }
    found
}

/// Returns the module of a path. Re-exports are followed. Paths outside the crate have none.
fn module_of(
    path: &ModulePath,
    modules: &BTreeSet<&ModulePath>,
    brought: &BTreeMap<&ModulePath, BTreeMap<String, ModulePath>>,
) -> Option<ModulePath> {
    let mut path = path.clone();
    for _ in 0..8 {
        let depth = (0..=path.len())
            .rev()
            .find(|depth| modules.contains(&path[..*depth].to_vec()))?;
        let module = path[..depth].to_vec();
        let origin = path.get(depth).and_then(|name| brought[&module].get(name));
        match origin.filter(|origin| **origin != path[..=depth]) {
            Some(origin) => path = origin.iter().chain(&path[depth + 1..]).cloned().collect(),
            None => return Some(module),
        }
    }
    None
}

/// Returns the names of the nodes that can reach themselves.
fn in_circles(uses: &Uses) -> Vec<String> {
    let reaches = |from: &ModulePath| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(next) = open.pop() {
            for to in uses.get(next).into_iter().flatten() {
                if to == from {
                    return true;
                }
                if seen.insert(to) {
                    open.push(to);
                }
            }
        }
        false
    };
    uses.keys()
        .filter(|from| reaches(from))
        .map(|path| path.join("::"))
        .collect()
}

/// Returns descriptions of a crate's faults. A parent and its child are no cycle.
fn faults(root_file: &Path) -> Vec<String> {
    let modules = modules(root_file);
    let paths: BTreeSet<_> = modules.iter().map(|module| &module.path).collect();
    let brought: BTreeMap<_, _> = modules.iter().map(|module| (&module.path, brought(module))).collect();
    let (mut files, mut tops, mut tuples) = (Uses::new(), Uses::new(), Vec::new());
    for module in &modules {
        let mut reader = Reader {
            module: &module.path,
            named: BTreeSet::new(),
            tuples: Vec::new(),
        };
        reader.visit_file(&module.syntax);
        let taking = reader.tuples.iter();
        tuples.extend(taking.map(|name| format!("{}::{name} takes a tuple", module.path.join("::"))));
        for path in &reader.named {
            let Some(to) = module_of(path, &paths, &brought) else {
                continue;
            };
            let from = &module.path;
            if let ([from, ..], [to, ..]) = (from.as_slice(), to.as_slice())
                && from != to
            {
                tops.entry(vec![from.clone()]).or_default().insert(vec![to.clone()]);
            }
            let is_family = from.starts_with(&to) || to.starts_with(from);
            if !is_family {
                files.entry(from.clone()).or_default().insert(to);
            }
        }
    }
    let circles = [("module", in_circles(&tops)), ("file", in_circles(&files))];
    let circles = circles.into_iter().flat_map(|(what, names)| {
        names
            .into_iter()
            .map(move |name| format!("the {what} {name} lies in a circle"))
    });
    circles.chain(tuples).collect()
}

#[test]
fn no_module_lies_in_a_circle_and_no_function_takes_a_tuple() {
    let metadata = cargo_metadata::MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .unwrap();
    let mut found = Vec::new();
    for package in metadata.workspace_packages() {
        let targets = package
            .targets
            .iter()
            .filter(|target| target.is_lib() || target.is_bin());
        let faults = targets.flat_map(|target| faults(target.src_path.as_std_path()));
        found.extend(faults.map(|fault| format!("{}: {fault}", package.name)));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
