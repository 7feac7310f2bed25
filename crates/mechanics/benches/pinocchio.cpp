// Pinocchio on the models and states of dynamics.rs, in its output format; built and run by `cargo xtask bench dynamics`.
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/energy.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

#include <boost/property_tree/json_parser.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace pin = pinocchio;
using boost::property_tree::ptree;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr int ROUNDS = 400;

template <int ROWS> Eigen::Matrix<double, ROWS, 1> numbers(const ptree &array) {
  Eigen::Matrix<double, ROWS, 1> values;
  int i = 0;
  for (const auto &entry : array) values[i++] = entry.second.get_value<double>();
  return values;
}

pin::JointModel joint(const std::string &kind, const Vector3d &axis) {
  if (kind == "free") return pin::JointModelFreeFlyer();
  if (kind == "sph") return pin::JointModelSpherical();
  if (axis.x() == 1) return pin::JointModelRX();
  if (axis.y() == 1) return pin::JointModelRY();
  return pin::JointModelRZ();
}

pin::Model read(const ptree &bodies) {
  pin::Model model;
  for (const auto &entry : bodies) {
    const ptree &body = entry.second;
    Matrix3d R;
    int row = 0;
    for (const auto &numbers_of_row : body.get_child("R")) R.row(row++) = numbers<3>(numbers_of_row.second).transpose();
    const pin::SE3 place(R, numbers<3>(body.get_child("p")));
    const auto kind = body.get<std::string>("joint");
    const auto id = model.addJoint(body.get<int>("parent") + 1, joint(kind, numbers<3>(body.get_child("axis"))), place,
                                   body.get<std::string>("name"));
    const Matrix3d inertia = numbers<3>(body.get_child("I")).asDiagonal();
    model.appendBodyToJoint(id, pin::Inertia(body.get<double>("m"), numbers<3>(body.get_child("com")), inertia));
  }
  model.gravity.linear(Vector3d(0, 0, -9.81));
  return model;
}

struct Sample {
  VectorXd q, v, a, tau;
};

std::vector<Sample> samples(const std::string &path, const pin::Model &model) {
  std::vector<Sample> all;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream stream(line);
    const auto vector = [&](int size) {
      VectorXd v(size);
      for (int i = 0; i < size; ++i) stream >> v[i];
      return v;
    };
    Sample s;
    s.q = vector(model.nq);
    s.v = vector(model.nv);
    s.a = vector(model.nv);
    s.tau = vector(model.nv);
    all.push_back(s);
  }
  return all;
}

template <class F>
void measure(const std::string &model, const char *algo, const std::vector<Sample> &states, F f,
             const char *lib = "pinocchio") {
  std::vector<double> times;
  for (int round = 0; round < ROUNDS + 20; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (const Sample &state : states) {
      const Sample *input = &state;
      asm volatile("" : "+r"(input) : : "memory");
      f(*input);
      asm volatile("" : : : "memory");
    }
    const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
    if (round >= 20) times.push_back(elapsed.count() / states.size());
  }
  std::sort(times.begin(), times.end());
  std::printf("TIME,%s,%s,%s,%.1f,%.1f,%.1f\n", lib, model.c_str(), algo, times[(ROUNDS - 1) / 2], times[0],
              times[(ROUNDS - 1) * 9 / 10]);
}

int main(int count, char **arguments) {
  const std::string folder = "data", filter = count > 1 ? arguments[1] : "";
  ptree models;
  boost::property_tree::read_json(folder + "/models.json", models);
  for (const std::string name : {"arm6", "quad", "tri"}) {
    if (name.find(filter) == std::string::npos) continue;
    const pin::Model model = read(models.get_child(name));
    pin::Data data(model);
    const auto states = samples(folder + "/" + name + ".samples", model);

    double energy = 0, power = 0, acceleration = 0;
    for (const Sample &s : states) {
      energy += pin::computeKineticEnergy(model, data, s.q, s.v);
      power -= s.v.dot(pin::computeGeneralizedGravity(model, data, s.q));
      acceleration += pin::aba(model, data, s.q, s.v, VectorXd(VectorXd::Zero(model.nv))).cwiseAbs().sum();
    }
    std::printf("CHECK,pinocchio,%s,kinetic_energy,%.12e\n", name.c_str(), energy);
    std::printf("CHECK,pinocchio,%s,gravity_power,%.12e\n", name.c_str(), power);
    std::printf("CHECK,pinocchio,%s,free_acceleration,%.12e\n", name.c_str(), acceleration);

    using pin::Convention;
    measure(name, "rnea", states, [&](const Sample &s) { pin::rnea(model, data, s.q, s.v, s.a); });
    measure(name, "crba", states, [&](const Sample &s) { pin::crba(model, data, s.q, Convention::LOCAL); });
    measure(name, "crba", states, [&](const Sample &s) { pin::crba(model, data, s.q, Convention::WORLD); }, "pinocchio-world");
    measure(name, "fd", states, [&](const Sample &s) { pin::aba(model, data, s.q, s.v, s.tau, Convention::LOCAL); });
    measure(name, "fd", states, [&](const Sample &s) { pin::aba(model, data, s.q, s.v, s.tau, Convention::WORLD); }, "pinocchio-world");
    measure(name, "bias", states, [&](const Sample &s) { pin::nonLinearEffects(model, data, s.q, s.v); });
    measure(name, "jacobians_world_bias", states, [&](const Sample &s) {
      pin::computeJointJacobians(model, data, s.q);
      pin::nonLinearEffects(model, data, s.q, s.v);
    });
    std::vector<pin::Data::Matrix6x> J(model.njoints, pin::Data::Matrix6x::Zero(6, model.nv));
    measure(name, "jacobians_bias", states, [&](const Sample &s) {
      pin::computeJointJacobians(model, data, s.q);
      for (int body = 1; body < model.njoints; ++body) pin::getJointJacobian(model, data, body, pin::LOCAL, J[body]);
      pin::nonLinearEffects(model, data, s.q, s.v);
    });
    measure(name, "drnea", states, [&](const Sample &s) { pin::computeRNEADerivatives(model, data, s.q, s.v, s.a); });
    measure(name, "daba", states, [&](const Sample &s) { pin::computeABADerivatives(model, data, s.q, s.v, s.tau); });
  }
}
