//! Links and joints as a tree.

use std::collections::{HashMap, HashSet};

use super::xml::Element;
use super::{DescriptionError, Problem, UrdfRoot};
use crate::description::reader::suggestion;
use crate::multibody::ModelError;

/// All links, each with the joint that carries it.
pub(super) struct Tree<'a> {
    pub links: Vec<(&'a str, Element<'a>)>,
    /// The joint that carries each link, and the parent link.
    carried_by: Vec<Option<(Element<'a>, usize)>>,
    joint_names: Vec<&'a str>,
    root: usize,
}

/// A link to be made a body, parents before children.
pub(super) struct Branch<'a> {
    pub index: usize,
    pub link: &'a str,
    pub parent: &'a str,
    pub joint: Option<(&'a str, Element<'a>)>,
    pub root: UrdfRoot,
}

impl<'a> Tree<'a> {
    pub fn read(robot: &Element<'a>) -> Result<Self, DescriptionError> {
        let links = robot.named("link")?;
        let mut index_of: HashMap<&str, usize> = HashMap::new();
        for (index, (name, link)) in links.iter().enumerate() {
            if index_of.insert(name, index).is_some() {
                return Err(duplicate("links", name, link));
            }
        }
        let names: Vec<&str> = links.iter().map(|(name, _)| *name).collect();
        let find = |joint: &Element<'a>, end: &'static str| {
            let value = joint.required(end)?.attribute("link")?;
            index_of.get(value.value()).copied().ok_or_else(|| {
                let error = value.error(Problem::UnknownLink(value.value().to_owned()));
                error.helped(suggestion(value.value(), &names))
            })
        };
        let mut tree = Self {
            carried_by: vec![None; links.len()],
            joint_names: vec![""; links.len()],
            links,
            root: 0,
        };
        let mut joints: HashSet<&str> = HashSet::new();
        for (name, joint) in robot.named("joint")? {
            if !joints.insert(name) {
                return Err(duplicate("joints", name, &joint));
            }
            let (parent, child) = (find(&joint, "parent")?, find(&joint, "child")?);
            if tree.carried_by[child].is_some() {
                let problem = Problem::SecondParent {
                    link: tree.links[child].0.to_owned(),
                    joint: tree.joint_names[child].to_owned(),
                };
                let place = joint.required("child")?.attribute("link")?;
                let help = "URDF holds trees only; a loop is closed by a constraint";
                return Err(place.error(problem).helped(Some(help)));
            }
            tree.carried_by[child] = Some((joint, parent));
            tree.joint_names[child] = name;
        }
        tree.root = tree.find_root(robot)?;
        Ok(tree)
    }

    /// The only link that no joint carries.
    fn find_root(&self, robot: &Element<'a>) -> Result<usize, DescriptionError> {
        let mut roots = (0..self.links.len()).filter(|i| self.carried_by[*i].is_none());
        let Some(root) = roots.next() else {
            let names = self.links.iter().map(|(name, _)| (*name).to_owned());
            return Err(match self.carried_by.first() {
                Some(Some((joint, _))) => joint.error(ModelError::Cycle(names.collect())),
                _ => robot.error(Problem::MissingElement("link".to_owned())),
            });
        };
        match roots.next() {
            None => Ok(root),
            Some(second) => {
                let (name, link) = &self.links[second];
                Err(link.error(Problem::SecondRoot {
                    link: (*name).to_owned(),
                    root: self.links[root].0.to_owned(),
                }))
            }
        }
    }

    /// The link to which this one is fixed, if it is.
    pub fn fixed_to(&self, link: usize) -> Result<Option<(usize, &Element<'a>)>, DescriptionError> {
        let Some((joint, parent)) = &self.carried_by[link] else {
            return Ok(None);
        };
        let fixed = joint.attribute("type")?.value() == "fixed";
        Ok(fixed.then_some((*parent, joint)))
    }

    /// All links in the order in which a walk along the branches meets them, those of the world left out.
    pub fn branches(&self, root: UrdfRoot) -> Result<Vec<Branch<'a>>, DescriptionError> {
        let mut children = vec![Vec::new(); self.links.len()];
        for (child, carried) in self.carried_by.iter().enumerate() {
            if let Some((_, parent)) = carried {
                children[*parent].push(child);
            }
        }
        let mut branches = Vec::with_capacity(self.links.len());
        let mut next = vec![self.root];
        while let Some(index) = next.pop() {
            next.extend(children[index].iter().rev());
            let (link, element) = &self.links[index];
            let parent = match &self.carried_by[index] {
                Some((_, parent)) => self.links[*parent].0,
                None => "world",
            };
            if *link == "world" {
                if index != self.root {
                    return Err(element.error(ModelError::ReservedName));
                }
                if root == UrdfRoot::Free {
                    let text = "the root link is `world`, which does not move";
                    return Err(element.error(Problem::Keys(text.to_owned())));
                }
                continue;
            }
            let joint = self.carried_by[index].as_ref();
            branches.push(Branch {
                index,
                link,
                parent,
                joint: joint.map(|(joint, _)| (self.joint_names[index], joint.clone())),
                root,
            });
        }
        // Whatever hangs on the root has been met; the rest hangs on itself.
        if branches.len() + usize::from(self.links[self.root].0 == "world") < self.links.len() {
            return Err(self.circle(&branches));
        }
        Ok(branches)
    }

    fn circle(&self, met: &[Branch<'a>]) -> DescriptionError {
        let mut way: Vec<usize> = Vec::new();
        let met: HashSet<usize> = met.iter().map(|branch| branch.index).collect();
        let mut next = (0..self.links.len())
            .find(|link| *link != self.root && !met.contains(link))
            .unwrap_or(self.root);
        loop {
            if let Some(start) = way.iter().position(|before| *before == next) {
                let names = way[start..].iter().map(|i| self.links[*i].0.to_owned());
                let error = ModelError::Cycle(names.collect());
                return match &self.carried_by[next] {
                    Some((joint, _)) => joint.error(error),
                    None => self.links[next].1.error(error),
                };
            }
            way.push(next);
            next = self.carried_by[next]
                .as_ref()
                .map_or(next, |(_, parent)| *parent);
        }
    }

    /// A name for the joint that carries the root: the link's, or one that no joint has.
    pub fn root_joint(&self) -> String {
        let mut name = self.links[self.root].0.to_owned();
        while self.joints().any(|(other, _)| other == name) {
            name.push_str("_root");
        }
        name
    }

    /// All joints with their names.
    pub fn joints(&self) -> impl Iterator<Item = (&'a str, &Element<'a>)> {
        let both = self.joint_names.iter().zip(&self.carried_by);
        both.filter_map(|(name, joint)| Some((*name, &joint.as_ref()?.0)))
    }
}

fn duplicate(what: &'static str, name: &str, element: &Element<'_>) -> DescriptionError {
    let name = name.to_owned();
    element.error(Problem::DuplicateName { what, name })
}
